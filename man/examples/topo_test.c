/* A library describes the topology of the communicator that it gets. */
#include <mpi.h>
#include <stdio.h>

static void describe(MPI_Comm comm) {
    int kind, count;
    MPI_Topo_test(comm, &kind);
    switch (kind) {
    case MPI_CART:
        MPI_Cartdim_get(comm, &count);
        printf("a grid with %d dimensions\n", count);
        break;
    case MPI_GRAPH:
    case MPI_DIST_GRAPH:
        printf("a graph\n");
        break;
    default: /* MPI_UNDEFINED */
        printf("no topology\n");
    }
}

int main(int argc, char **argv) {
    int size;
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    describe(MPI_COMM_WORLD);
    describe(ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
