/* A library with topologies of its own: orders the ranks as MPI_Cart_create would, with MPI_Comm_split. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int size, rank, place, dims[2] = {0, 0};
    const int periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
    MPI_Comm_split(MPI_COMM_WORLD, place == MPI_UNDEFINED ? place : 0,
        place == MPI_UNDEFINED ? 0 : place, &grid);
    if (grid != MPI_COMM_NULL) {
        MPI_Comm_rank(grid, &place);
        printf("rank %d is at row %d, column %d\n", rank, place / dims[1],
            place % dims[1]);
        MPI_Comm_free(&grid);
    }
    MPI_Finalize();
    return 0;
}
