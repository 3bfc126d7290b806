/* The first rank that replaces the -1 in the window of rank 0 by its number is the leader. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, *leader, none = -1, found;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? sizeof(int) : 0, sizeof(int),
        MPI_INFO_NULL, MPI_COMM_WORLD, &leader, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        *leader = none;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Compare_and_swap(&rank, &none, &found, MPI_INT, 0, 0, win);
    MPI_Win_flush(0, win); /* found is valid now */
    printf("rank %d: the leader is rank %d\n", rank,
        found == none ? rank : found);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
