/* Each rank reads the last element of its left neighbor. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { N = 1000 };
    int rank, size;
    double *values, left = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(N * sizeof(double), sizeof(double), MPI_INFO_NULL,
        MPI_COMM_WORLD, &values, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++)
        values[i] = rank + i / 1000.0;
    MPI_Win_fence(0, win); /* the stores above come before the gets below */
    MPI_Get(&left, 1, MPI_DOUBLE, (rank + size - 1) % size, N - 1, 1,
        MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    printf("rank %d: the left neighbor's last value is %.3f\n", rank, left);
    MPI_Win_free(&win); /* also frees the memory */
    MPI_Finalize();
    return 0;
}
