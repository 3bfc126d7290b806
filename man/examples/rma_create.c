/* A window over a variable of the program: each rank writes its number into the window of the next rank. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, from = -1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&from, sizeof from, sizeof from, MPI_INFO_NULL,
        MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    printf("rank %d: rank %d wrote to my window\n", rank, from);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
