/* The even ranks are a server that publishes a port; the odd ranks connect to it. Needs at least two ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, number = 0;
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm half, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("example", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the name is published now */
    if (size > 1 && rank % 2 == 0) {
        number = 42;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
        MPI_Bcast(&number, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
            other);
        MPI_Comm_disconnect(&other);
    } else if (rank % 2 == 1) {
        if (rank == 1)
            MPI_Lookup_name("example", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
        MPI_Bcast(&number, 1, MPI_INT, 0, other);
        printf("rank %d received %d from the server\n", rank, number);
        MPI_Comm_disconnect(&other);
    }
    if (rank == 0) {
        MPI_Unpublish_name("example", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
