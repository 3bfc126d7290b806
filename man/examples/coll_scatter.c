/* Scalar product: rank 0 distributes a vector, each rank handles its block, and rank 0 gets the sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { N = 1000 };
    int rank, size;
    double block[N], *vector = NULL, part = 0, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        vector = malloc(size * sizeof block);
        for (int i = 0; i < size * N; i++)
            vector[i] = 0.5;
    }
    MPI_Scatter(
        vector, N, MPI_DOUBLE, block, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        part += block[i] * block[i];
    MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the scalar product is %g\n", sum);
    free(vector);
    MPI_Finalize();
    return 0;
}
