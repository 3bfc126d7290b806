/* All ranks draw numbers from a counter at rank 0. MPI_Win_flush_local makes the result of the fetch valid. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, ticket = 0, drawn = 0;
    const int one = 1, tickets = 100;
    int *counter;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter,
        MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win); /* zeroed */
    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        if (ticket >= tickets)
            break;
        drawn++; /* work on item number `ticket` */
    }
    MPI_Win_unlock_all(win);
    printf("rank %d worked on %d items\n", rank, drawn);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
