/* The ranks of a node store into their parts of a shared array, then rank 0 of the node loads all of it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, unit, sum = 0;
    int *own, *first;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_split_type(
        MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(
        sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    *own = rank + 1;
    MPI_Win_sync(win); /* the store is visible before the barrier ends */
    MPI_Barrier(node);
    MPI_Win_sync(win);
    /* The parts are contiguous, in the order of ranks. */
    for (int i = 0; i < size; i++)
        sum += first[i];
    MPI_Win_unlock_all(win);
    if (rank == 0)
        printf("the sum of %d parts is %d\n", size, sum);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
