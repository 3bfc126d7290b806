/* Rank 0 sends an array in parts, each as soon as it has been computed. Needs at least two ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { PARTS = 8, N = 100 };
    static double values[PARTS * N];
    int rank, size;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && size > 1) {
        MPI_Psend_init(values, PARTS, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD,
            MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int part = 0; part < PARTS;
             part++) { /* could be the loop of several threads */
            for (int i = 0; i < N; i++)
                values[part * N + i] = part;
            MPI_Pready(part, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (rank == 1) {
        MPI_Precv_init(values, PARTS, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
            MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int arrived = 0; !arrived;)
            MPI_Parrived(request, PARTS - 1, &arrived);
        printf("the last value is %g\n", values[PARTS * N - 1]);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* the other parts */
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}
