/* Each rank sends its number to the next rank, and receives that of the previous one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, from = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* MPI_Send before MPI_Recv could deadlock here, because all ranks send. */
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT,
        (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d received from rank %d\n", rank, from);
    if (rank == 0 && size > 1)
        MPI_Send("hello", 6, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) {
        char text[100];
        MPI_Status status;
        int length;
        MPI_Recv(text, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
            MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &length);
        printf("%d characters from rank %d, tag %d: %s\n", length,
            status.MPI_SOURCE, status.MPI_TAG, text);
    }
    MPI_Finalize();
    return 0;
}
