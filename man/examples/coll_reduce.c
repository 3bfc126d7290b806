/* Sums over all ranks: the sum of one number each, and a vector that is reduced in place. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size;
    double residual, sum, forces[3];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    residual = 1.0 / (rank + 1);
    MPI_Iallreduce(
        &residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) /* work while the sum is computed */
        forces[i] = rank * i;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(
        MPI_IN_PLACE, forces, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("residual %g, forces %g %g %g\n", sum, forces[0], forces[1],
            forces[2]);
    MPI_Finalize();
    return 0;
}
