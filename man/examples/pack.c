/* Rank 0 packs a count and that many values into one message. Needs at least two ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, position = 0, n = 3;
    double values[3] = {1, 2, 3};
    char buffer[200];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && size > 1) {
        MPI_Pack(&n, 1, MPI_INT, buffer, sizeof buffer, &position,
            MPI_COMM_WORLD);
        MPI_Pack(values, n, MPI_DOUBLE, buffer, sizeof buffer, &position,
            MPI_COMM_WORLD);
        MPI_Send(buffer, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(buffer, sizeof buffer, MPI_PACKED, 0, 0, MPI_COMM_WORLD,
            MPI_STATUS_IGNORE);
        MPI_Unpack(buffer, sizeof buffer, &position, &n, 1, MPI_INT,
            MPI_COMM_WORLD);
        MPI_Unpack(buffer, sizeof buffer, &position, values, n, MPI_DOUBLE,
            MPI_COMM_WORLD);
        printf("%d values, the last one is %g\n", n, values[n - 1]);
    }
    MPI_Finalize();
    return 0;
}
