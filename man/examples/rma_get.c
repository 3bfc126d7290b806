/* Rank 0 reads a number of every rank, without their help. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { MAX = 100 };
    int rank, size, *mine, numbers[MAX];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL,
        MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *mine = rank * rank;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD); /* all numbers are stored now */
    if (rank == 0) {
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < size && i < MAX; i++)
            MPI_Get(&numbers[i], 1, MPI_INT, i, 0, 1, MPI_INT, win);
        MPI_Win_flush_local_all(win); /* the numbers are here now */
        for (int i = 0; i < size && i < MAX; i++)
            printf("rank %d has %d\n", i, numbers[i]);
        MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
