/* Proves: MPI_Graph_create, Graphdims_get, Graph_get, Graph_neighbors(_count) and Graph_map return the right
 *   values. So do MPI_Dist_graph_neighbors(_count) on graphs of MPI_Dist_graph_create_adjacent and
 *   MPI_Dist_graph_create. Processes may specify edges of other processes, with or without weights. MPI-5.0 8.5.3,
 *   8.5.4, 8.5.5
 * np: 1 2 5
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

/* Holds MPI_UNWEIGHTED. The constant is a number cast to a pointer, and compilers warn about such a constant in a call.
 * The variable is assigned in main, because in other libraries MPI_UNWEIGHTED is not a compile-time constant. */
static int *volatile unweighted;

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	unweighted = MPI_UNWEIGHTED;
	int n = check_size, right = (check_rank + 1) % n, left = (check_rank + n - 1) % n, kind, nodes, edges, count,
	    near[64], weighted, in, out;
	MPI_Comm c;
	/* a ring: the edges of each node lead to its left and right neighbor */
	int index[64], edge[128];
	for (int i = 0; i < n; i++) {
		index[i] = 2 * (i + 1);
		edge[2 * i] = (i + n - 1) % n;
		edge[2 * i + 1] = (i + 1) % n;
	}
	MPI_Graph_create(MPI_COMM_WORLD, n, index, edge, 0, &c);
	MPI_Topo_test(c, &kind);
	MPI_Graphdims_get(c, &nodes, &edges);
	CHECK(kind == MPI_GRAPH && nodes == n && edges == 2 * n, "kind %d, %d nodes, %d edges", kind, nodes, edges);
	int index2[64] = {0}, edge2[128] = {0};
	MPI_Graph_get(c, n, 2 * n, index2, edge2);
	CHECK(memcmp(index, index2, sizeof(int) * n) == 0 && memcmp(edge, edge2, sizeof(int) * 2 * n) == 0,
	      "graph_get");
	MPI_Graph_neighbors_count(c, check_rank, &count);
	MPI_Graph_neighbors(c, check_rank, 2, near);
	CHECK(count == 2 && near[0] == left && near[1] == right, "%d neighbors, %d and %d", count, near[0], near[1]);
	MPI_Comm_free(&c);

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &(int){10 + check_rank}, 1, &right, &(int){10 + right},
				       MPI_INFO_NULL, 0, &c);
	MPI_Topo_test(c, &kind);
	MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
	int sources[64], sw[64], dests[64], dw[64];
	MPI_Dist_graph_neighbors(c, 1, sources, sw, 1, dests, dw);
	CHECK(kind == MPI_DIST_GRAPH && in == 1 && out == 1 && weighted, "%d in, %d out, weighted %d", in, out,
	      weighted);
	CHECK(sources[0] == left && sw[0] == 10 + check_rank && dests[0] == right && dw[0] == 10 + right,
	      "adjacent neighbors");
	MPI_Comm_free(&c);

	/* process 0 specifies all edges: from each process to all others */
	int from[64], degree[64], to[64 * 64], k = 0;
	for (int i = 0; i < n; i++) {
		from[i] = i;
		degree[i] = n - 1;
		for (int j = 0; j < n; j++)
			if (j != i)
				to[k++] = j;
	}
	MPI_Dist_graph_create(MPI_COMM_WORLD, check_rank == 0 ? n : 0, from, degree, to, unweighted, MPI_INFO_NULL, 0,
			      &c);
	MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
	CHECK(in == n - 1 && out == n - 1 && !weighted, "%d in, %d out, weighted %d", in, out, weighted);
	MPI_Dist_graph_neighbors(c, in, sources, unweighted, out, dests, unweighted);
	int seen = 0;
	for (int i = 0; i < n - 1; i++)
		seen += sources[i] + dests[i];
	CHECK(seen == n * (n - 1) - 2 * check_rank, "neighbors' ranks add up to %d", seen);
	MPI_Comm_free(&c);
	return check_end();
}
