/* Rank 0 receives from all others, and learns from the status who has sent what. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, source, tag, sum = 0, data;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 10 * rank, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
            MPI_COMM_WORLD, &status);
        MPI_Status_get_source(&status, &source); /* status.MPI_SOURCE */
        MPI_Status_get_tag(&status, &tag);       /* status.MPI_TAG */
        if (data == source && tag == 10 * source)
            sum += source;
    }
    if (rank == 0)
        printf("the sum of the senders' ranks is %d\n", sum);
    MPI_Finalize();
    return 0;
}
