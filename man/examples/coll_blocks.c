/* Every rank has a value for every rank; each rank gets the sum of its values. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *values = malloc(size * sizeof *values);
    for (int i = 0; i < size; i++)
        values[i] = 100 * i + rank;
    MPI_Reduce_scatter_block(
        values, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: the sum is %d\n", rank, sum);
    free(values);
    MPI_Finalize();
    return 0;
}
