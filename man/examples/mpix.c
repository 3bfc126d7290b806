/* Counts the puts of this process on a window by the path that they take. */
#include <mpi.h>
#include <mpix_gompirma.h>
#include <stdio.h>

int main(int argc, char **argv) {
    static struct MPIX_Gompirma_count counts[MPIX_GOMPIRMA_KINDS]
                                            [MPIX_GOMPIRMA_WAYS];
    int rank, size, memory = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(
        &memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPIX_Gompirma_win_count(win, counts);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPIX_Gompirma_win_count(win, NULL);
    printf("rank %d: %d by system calls, %d by the target's thread\n", rank,
        (int)counts[MPIX_GOMPIRMA_PUT][MPIX_GOMPIRMA_CMA].calls,
        (int)counts[MPIX_GOMPIRMA_PUT][MPIX_GOMPIRMA_RING].calls);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
