/* Every rank adds to the same two numbers of rank 0, one call after the other, without locks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    long *numbers, one[2] = {1, 10}, before[2];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? 2 * sizeof(long) : 0, sizeof(long),
        MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        numbers[0] = numbers[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(one, 2, MPI_LONG, 0, 0, 2, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(one, 2, MPI_LONG, before, 2, MPI_LONG, 0, 0, 2,
        MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    printf("rank %d has found %ld and %ld\n", rank, before[0], before[1]);
    if (rank == 0)
        printf("the results are %ld and %ld\n", numbers[0], numbers[1]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
