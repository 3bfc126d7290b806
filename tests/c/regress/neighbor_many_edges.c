/* What went wrong: a neighborhood collective of members that share memory did not return if a member had more than 64
 * edges and its blocks fitted into its shared buffer.
 * Must hold: each block arrives on its edge, with blocks of 0 to 400 bytes, and also if only some members have many
 * edges. MPI-5.0 8.6
 * np: 2 4
 * nodes: 2
 * ref: none (MPICH delivers the blocks of parallel edges in reverse order; Open MPI passes)
 * timeout: 60
 */
#include "../check.h"

enum { EDGES = 150, MOST = 100 };

static int value(int from, int edge, int k) { return 100000 * from + 100 * edge + k; }

int main(int argc, char **argv) {
	static int out[EDGES * MOST], in[EDGES * MOST], peers[EDGES];
	check_begin(&argc, &argv);
	const int edges = check_rank < 2 ? EDGES : 0; /* the ranks 0 and 1 are neighbors of each other */
	MPI_Comm graph;
	for (int i = 0; i < EDGES; i++)
		peers[i] = 1 - check_rank;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, peers, MPI_UNWEIGHTED, edges, peers, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &graph);
	static const int counts[] = {0, 1, 7, MOST};
	for (int c = 0; c < 4; c++) {
		const int n = counts[c];
		for (int i = 0; i < EDGES; i++)
			for (int k = 0; k < n; k++)
				out[i * n + k] = value(check_rank, i, k), in[i * n + k] = -1;
		MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, graph);
		for (int i = 0; i < edges; i++)
			for (int k = 0; k < n; k++)
				CHECK(in[i * n + k] == value(1 - check_rank, i, k), "%d elements, edge %d: [%d] is %d",
				      n, i, k, in[i * n + k]);
	}
	MPI_Comm_free(&graph);
	return check_end();
}
