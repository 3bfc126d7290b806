/* Rank 0 attaches memory to a dynamic window and sends its address; the other ranks add to it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    double one = 1, *sum = NULL;
    MPI_Aint address = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Alloc_mem(sizeof *sum, MPI_INFO_NULL, &sum);
        *sum = 0;
        MPI_Win_attach(win, sum, sizeof *sum);
        MPI_Get_address(sum, &address);
    }
    MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(
        &one, 1, MPI_DOUBLE, 0, address, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_unlock_all(win); /* completes the accumulate at rank 0 */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("the sum is %.0f\n", *sum);
        MPI_Win_detach(win, sum);
        MPI_Free_mem(sum);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
