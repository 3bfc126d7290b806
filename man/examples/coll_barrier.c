/* Measures the time until the slowest rank has arrived. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    usleep(10000 * rank); /* the work of this rank */
    double start = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    printf(
        "rank %d waited for %.0f ms\n", rank, (MPI_Wtime() - start) * 1000);
    MPI_Finalize();
    return 0;
}
