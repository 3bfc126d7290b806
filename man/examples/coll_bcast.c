/* Rank 0 reads the parameters and sends them to all ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    double parameters[3] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        parameters[0] = 0.1, parameters[1] = 2.5, parameters[2] = 100;
    MPI_Bcast(parameters, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    printf("rank %d: %g %g %g\n", rank, parameters[0], parameters[1],
        parameters[2]);
    MPI_Finalize();
    return 0;
}
