/* Rank 0 receives a message from every other rank, in the order in which they arrive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        double result = rank * 0.5;
        MPI_Request request;
        MPI_Isend(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
        /* other work, which does not change result */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        double *results = calloc(size, sizeof *results);
        MPI_Request *requests = malloc(size * sizeof(MPI_Request));
        for (int i = 1; i < size; i++)
            MPI_Irecv(&results[i], 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD,
                &requests[i - 1]);
        for (int i = 1; i < size; i++) {
            int index;
            MPI_Waitany(size - 1, requests, &index, MPI_STATUS_IGNORE);
            printf("rank %d: %g\n", index + 1, results[index + 1]);
        }
        free(requests);
        free(results);
    }
    MPI_Finalize();
    return 0;
}
