/* Rank 0 receives pairs, and a message that ends inside of a pair. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, data[3] = {1, 2, 3};
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 1)
        MPI_Send(data, 3, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0 && size > 1) {
        int count, pairs, numbers;
        MPI_Status status;
        MPI_Probe(1, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        int *buffer = malloc((count + 1) * sizeof *buffer);
        MPI_Recv(
            buffer, (count + 1) / 2, pair, 1, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, pair, &pairs);
        MPI_Get_elements(&status, pair, &numbers);
        printf("%d numbers, %s pairs\n", numbers,
            pairs == MPI_UNDEFINED ? "no whole number of" : "whole");
        free(buffer);
    }
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
