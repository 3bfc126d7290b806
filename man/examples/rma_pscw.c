/* Each rank synchronizes with its two neighbors only: it exposes its memory to them, and writes to theirs. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, neighbors[2], *halo;
    MPI_Group all, both;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    neighbors[0] = (rank + size - 1) % size;
    neighbors[1] = (rank + 1) % size;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL,
        MPI_COMM_WORLD, &halo, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(
        all, neighbors[0] == neighbors[1] ? 1 : 2, neighbors, &both);
    MPI_Win_post(both, 0, win);
    MPI_Win_start(both, 0, win);
    MPI_Put(&rank, 1, MPI_INT, neighbors[0], 1, 1, MPI_INT, win);
    MPI_Put(&rank, 1, MPI_INT, neighbors[1], 0, 1, MPI_INT, win);
    MPI_Win_complete(win); /* my puts are complete at the origin */
    MPI_Win_wait(win);     /* the neighbors' puts are in my memory */
    printf("rank %d: neighbors are %d and %d\n", rank, halo[0], halo[1]);
    MPI_Group_free(&both);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
