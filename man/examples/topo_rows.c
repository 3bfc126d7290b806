/* Sums in the rows of a grid of processes, and the values of the neighbors. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, sum, near[4] = {-1, -1, -1, -1};
    int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
    int along_row[2] = {0, 1};
    MPI_Comm grid, row;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Cart_get(grid, 2, dims, periods, coords);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_sub(grid, along_row, &row);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, near, 1, MPI_INT, grid);
    printf("rank %d at (%d, %d): row sum %d, up %d, down %d, left %d, "
           "right %d\n",
        rank, coords[0], coords[1], sum, near[0], near[1], near[2],
        near[3]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
