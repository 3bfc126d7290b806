/* A library gets a communicator with a distributed graph, and sends a message along each edge. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum_over_neighbors(MPI_Comm comm, int value) {
    int in, out, weighted, sum = 0;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    int *from = malloc((in + 1) * sizeof(int));
    int *to = malloc((out + 1) * sizeof(int));
    MPI_Request *sends = malloc((out + 1) * sizeof(MPI_Request));
    MPI_Dist_graph_neighbors(
        comm, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED);
    for (int i = 0; i < out; i++)
        MPI_Isend(&value, 1, MPI_INT, to[i], 0, comm, &sends[i]);
    for (int i = 0, received; i < in; i++, sum += received)
        MPI_Recv(
            &received, 1, MPI_INT, from[i], 0, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(out, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(from);
    free(to);
    return sum;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED,
        1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    printf("rank %d: %d\n", rank, sum_over_neighbors(graph, rank));
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
