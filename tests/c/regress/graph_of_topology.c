/* What went wrong: a distributed graph made from a communicator with a topology kept the old topology; an unweighted
 * graph could not be duplicated.
 * Must hold: the new communicator has the graph as its only topology: queries for other topologies return
 * MPI_ERR_TOPOLOGY. Duplicates of the communicator have the graph, too. MPI-5.0 7.4.2, 8.5
 * np: 1 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

static void look(MPI_Comm g, int in, int out, int weighted) {
	int topo, a, b, w, d, s[4], sw[4], t[4], tw[4];
	CHECK_OK(MPI_Topo_test(g, &topo));
	CHECK(topo == MPI_DIST_GRAPH, "topology %d", topo);
	CHECK_CLASS(MPI_Cartdim_get(g, &d), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Graphdims_get(g, &a, &b), MPI_ERR_TOPOLOGY);
	CHECK_OK(MPI_Dist_graph_neighbors_count(g, &a, &b, &w));
	CHECK(a == in && b == out && !!w == weighted, "%d %d %d", a, b, w);
	CHECK_OK(MPI_Dist_graph_neighbors(g, in, s, weighted ? sw : MPI_UNWEIGHTED, out, t,
					  weighted ? tw : MPI_UNWEIGHTED));
	int x[4] = {check_rank, check_rank, check_rank, check_rank}, y[4] = {-1, -1, -1, -1};
	CHECK_OK(MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, g));
	for (int i = 0; i < in; i++)
		CHECK(y[i] == s[i], "from %d: %d", s[i], y[i]);
}
int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int dims[] = {check_size, 1}, per[] = {1, 1}, nx = (check_rank + 1) % check_size,
	    pv = (check_rank + check_size - 1) % check_size;
	MPI_Comm base[3], g, h;
	int index[64], edges[64];
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 0, &base[0]);
	for (int i = 0; i < check_size; i++) {
		index[i] = i + 1;
		edges[i] = (i + 1) % check_size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &base[1]);
	int in[] = {pv, pv}, out[] = {nx, nx}, w[] = {3, 4};
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, w, 2, out, w, MPI_INFO_NULL, 0, &base[2]);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_set_errhandler(base[i], MPI_ERRORS_RETURN);
		CHECK_OK(MPI_Dist_graph_create_adjacent(base[i], 2, in, MPI_UNWEIGHTED, 2, out, MPI_UNWEIGHTED,
							MPI_INFO_NULL, 0, &g));
		look(g, 2, 2, 0);
		CHECK_OK(MPI_Comm_dup(g, &h));
		MPI_Comm_free(&g);
		look(h, 2, 2, 0);
		MPI_Comm_free(&h);
		int deg = check_rank ? 0 : check_size, src[64], one[64], dst[64], ws[64];
		for (int k = 0; k < check_size; k++) {
			src[k] = k;
			one[k] = 1;
			dst[k] = (k + 1) % check_size;
			ws[k] = 5;
		}
		CHECK_OK(MPI_Dist_graph_create(base[i], deg, src, one, dst, deg ? ws : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
					       0, &g));
		look(g, 1, 1, 1);
		MPI_Request q;
		CHECK_OK(MPI_Comm_idup(g, &h, &q));
		CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		look(h, 1, 1, 1);
		MPI_Comm_free(&h);
		MPI_Comm_free(&g);
		MPI_Comm_free(&base[i]);
	}
	return check_end();
}
