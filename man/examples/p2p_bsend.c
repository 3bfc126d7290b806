/* Buffered sends do not wait for the receiver. The buffer has space for one message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, bytes, from = -1;
    void *buffer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes += MPI_BSEND_OVERHEAD;
    buffer = malloc(bytes);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, bytes);
    MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
    printf("rank %d received from rank %d\n", rank, from);
    MPI_Comm_flush_buffer(MPI_COMM_WORLD); /* the buffer is empty again */
    MPI_Bsend(&size, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &buffer, &bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}
