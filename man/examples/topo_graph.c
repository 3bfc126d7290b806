/* Each rank exchanges a value with its two neighbors in a ring, by one collective call. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size;
    double send[2], receive[2];
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int neighbors[2] = {(rank + size - 1) % size, (rank + 1) % size};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors,
        MPI_UNWEIGHTED, 2, neighbors, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
        &ring);
    send[0] = send[1] = rank;
    MPI_Neighbor_alltoall(
        send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, ring);
    printf("rank %d received %g and %g\n", rank, receive[0], receive[1]);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
