/* Each rank sends a number to each rank: element j of rank i becomes element i of rank j. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *send = malloc(size * sizeof *send),
        *receive = malloc(size * sizeof *receive);
    for (int i = 0; i < size; i++)
        send[i] = 100 * rank + i;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
    printf("rank %d received %d from rank %d\n", rank, receive[size - 1],
        size - 1);
    free(receive), free(send);
    MPI_Finalize();
    return 0;
}
