/* Rank 0 receives messages whose lengths it does not know. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        int *data = calloc(10 * rank, sizeof *data);
        MPI_Send(data, 10 * rank, MPI_INT, 0, 0, MPI_COMM_WORLD);
        free(data);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Message message;
            MPI_Status status;
            int count;
            MPI_Mprobe(
                MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            int *data = malloc(count * sizeof *data);
            MPI_Mrecv(data, count, MPI_INT, &message, MPI_STATUS_IGNORE);
            printf("rank %d sent %d integers\n", status.MPI_SOURCE, count);
            free(data);
        }
    }
    MPI_Finalize();
    return 0;
}
