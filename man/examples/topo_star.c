/* A star: rank 0 is the neighbor of all others. Each rank finds its neighbors in the graph. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, nodes, edges, count;
    MPI_Comm star;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *last = malloc(size * sizeof(int));
    int *ends = malloc(2 * size * sizeof(int));
    for (int i = 0; i < size; i++)
        last[i] = size - 1 + i; /* rank 0 has size - 1 edges, others one */
    for (int i = 1; i < size; i++) {
        ends[i - 1] = i;
        ends[size - 2 + i] = 0;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, last, ends, 0, &star);
    MPI_Graphdims_get(star, &nodes, &edges);
    MPI_Graph_get(star, size, 2 * size, last, ends);
    MPI_Comm_rank(star, &rank);
    MPI_Graph_neighbors_count(star, rank, &count);
    MPI_Graph_neighbors(star, rank, count, ends);
    printf("rank %d of %d nodes and %d edges: %d neighbors", rank, nodes,
        edges, count);
    for (int i = 0; i < count; i++)
        printf(" %d", ends[i]);
    printf("\n");
    MPI_Comm_free(&star);
    free(last);
    free(ends);
    MPI_Finalize();
    return 0;
}
