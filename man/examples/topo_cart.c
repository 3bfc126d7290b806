/* A periodic grid: each rank receives the number of its left neighbor. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int size, rank, left, right, from, dims[2] = {0, 0}, coords[2];
    const int periods[2] = {1, 1};
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &from, 1, MPI_INT, left, 0,
        grid, MPI_STATUS_IGNORE);
    printf("(%d, %d) of %d x %d: left neighbor %d\n", coords[0], coords[1],
        dims[0], dims[1], from);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
