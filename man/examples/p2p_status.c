/* A library looks at the length of a message without completing the receive, which belongs to its caller. */
#include <mpi.h>
#include <stdio.h>

static int received_count(MPI_Request request) {
    int is_complete = 0, count;
    MPI_Status status;
    while (!is_complete) /* useful work belongs here */
        MPI_Request_get_status(request, &is_complete, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    return count;
}

int main(int argc, char **argv) {
    int rank, size, numbers[10], three[3] = {1, 2, 3};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Irecv(numbers, 10, MPI_INT, (rank + size - 1) % size, 0,
        MPI_COMM_WORLD, &request);
    MPI_Send(three, 3, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    printf("rank %d: %d numbers\n", rank, received_count(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* returns at once */
    MPI_Finalize();
    return 0;
}
