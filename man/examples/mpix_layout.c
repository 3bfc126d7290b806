/* Finds out whether loads and stores can replace puts and gets to the next rank, and reads its memory if so. */
#include <mpi.h>
#include <mpix_gompirma.h>
#include <stdio.h>

int main(int argc, char **argv) {
    struct MPIX_Gompirma_layout next;
    int rank, size, *mine;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL,
        MPI_COMM_WORLD, &mine, &win);
    MPI_Win_fence(0, win);
    *mine = 10 * rank;
    MPI_Win_fence(0, win);
    MPIX_Gompirma_win_layout(win, (rank + 1) % size, &next);
    if (next.to - next.from == next.size && next.size > 0)
        printf("rank %d: the next rank has %d\n", rank, *(int *)next.base);
    else
        printf("rank %d: the next rank's memory is not mapped\n", rank);
    if (next.ways & 1u << MPIX_GOMPIRMA_NETWORK)
        printf("rank %d: the next rank is on another node\n", rank);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
