/* Starts MPI for threads, and prints where the ranks are. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided, rank, size, length;
    char node[MPI_MAX_PROCESSOR_NAME];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(node, &length);
    printf("rank %d of %d is on %s\n", rank, size, node);
    MPI_Finalize();
    return 0;
}
