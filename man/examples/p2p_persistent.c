/* Each rank sends to the next rank in every step. The requests are created once. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, value, from;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv_init(&from, 1, MPI_INT, (rank + size - 1) % size, 0,
        MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD,
        &requests[1]);
    for (int step = 0; step < 10; step++) {
        value = 10 * rank + step;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    printf("rank %d received %d in the last step\n", rank, from);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
