// Queries on topologies (MPI-5.0 8.5). These calls do not block, communicate or call Go.
#include "comm/comm.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error_status.h"
#include "comm/z_calls.h"

// Returns the address in t->ranks after the ranks of the neighbors, where the data of this kind of topology begins
// (topology.h).
static const int32_t *topology_data(const struct gompi_topology *t) { return t->ranks + t->sources + t->destinations; }

static const int32_t *dims_of(const struct gompi_topology *grid) { return topology_data(grid); }
static const int32_t *periods_of(const struct gompi_topology *grid) { return topology_data(grid) + grid->n; }
static const int32_t *coords_of(const struct gompi_topology *grid) { return topology_data(grid) + 2 * grid->n; }

static const int32_t *index_of(const struct gompi_topology *graph) { return topology_data(graph); }
static const int32_t *edges_of(const struct gompi_topology *graph) { return topology_data(graph) + graph->n; }

// Raises an error on a communicator in a topology query. A separate function, so that the success path has no error
// text on its stack.
__attribute__((cold, noinline, format(printf, 4, 5))) static int
raise_topology_error(MPI_Comm comm, const char *call, int class, const char *text, ...) {
	char all[sizeof((struct gompi_error_status *)0)->text];
	va_list values;
	va_start(values, text);
	vsnprintf(all, sizeof all, text, values);
	va_end(values);
	return gompi_return_error(class, call, all, GOMPI_ON_COMM, (uintptr_t)comm);
}

static int raise_no_result(MPI_Comm comm, const char *call, const char *argument) {
	return gompi_null_argument_error(call, argument, GOMPI_ON_COMM, (uintptr_t)comm);
}

// Returns the communicator if its topology has the given kind. Otherwise raises the error, stores in *rc the value that
// the call must return, and returns NULL.
static inline const struct gompi_comm *comm_with_topology(MPI_Comm comm, int kind, const char *call, int *rc) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (__builtin_expect(c != NULL && c->topology.kind == kind, 1))
		return c;
	*rc = c == NULL ? gompi_raise_invalid_comm(comm, call)
			: gompi_return_error(MPI_ERR_TOPOLOGY, call,
					     kind == MPI_CART    ? "the communicator has no Cartesian topology"
					     : kind == MPI_GRAPH ? "the communicator has no graph topology"
								 : "the communicator has no distributed graph topology",
					     GOMPI_ON_COMM, (uintptr_t)comm);
	return NULL;
}

// Returns true if n is negative, or n is positive and the list of n numbers is NULL.
static inline bool is_list_invalid(int n, const void *at) { return n < 0 || (n > 0 && at == NULL); }

__attribute__((cold, noinline)) static int raise_list_error(MPI_Comm comm, const char *call, const char *noun, int n) {
	if (n < 0)
		return raise_topology_error(comm, call, MPI_ERR_ARG, "the number of %s is %d; it must not be negative",
					    noun, n);
	return raise_topology_error(comm, call, MPI_ERR_ARG, "the array of %s is NULL; its length must be %d", noun, n);
}

__attribute__((cold, noinline)) static int raise_rank_error(MPI_Comm comm, const char *call, int rank, int size) {
	return raise_topology_error(comm, call, MPI_ERR_RANK, "rank is %d; valid ranks of the communicator are 0 to %d",
				    rank, size - 1);
}

// Raises the error for result arrays of a grid that are too short or missing.
__attribute__((cold, noinline)) static int raise_results_error(MPI_Comm comm, const char *call, int capacity, int n) {
	if (capacity < n)
		return raise_topology_error(comm, call, MPI_ERR_ARG,
					    "maxdims is %d; it must be at least %d, the number of dimensions", capacity,
					    n);
	return raise_list_error(comm, call, "results", n);
}

static inline int smaller(int a, int b) { return a < b ? a : b; }

static inline void copy_list(int *to, const int32_t *from, int n) {
	for (int i = 0; i < n; i++)
		to[i] = from[i];
}

int gompi_topo_test(MPI_Comm comm, int *status) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Topo_test");
	if (status == NULL)
		return raise_no_result(comm, "MPI_Topo_test", "status");
	*status = c->topology.kind != 0 ? c->topology.kind : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Topo_test, gompi_topo_test);

/* Grids: the last coordinate varies fastest with the rank. */

int gompi_cartdim_get(MPI_Comm comm, int *ndims) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_CART, "MPI_Cartdim_get", &rc);
	if (c == NULL)
		return rc;
	if (ndims == NULL)
		return raise_no_result(comm, "MPI_Cartdim_get", "ndims");
	*ndims = c->topology.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cartdim_get, gompi_cartdim_get);

int gompi_cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_CART, "MPI_Cart_get", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if (maxdims < t->n || is_list_invalid(t->n, dims) || is_list_invalid(t->n, periods) ||
	    is_list_invalid(t->n, coords))
		return raise_results_error(comm, "MPI_Cart_get", maxdims, t->n);
	copy_list(dims, dims_of(t), t->n);
	copy_list(periods, periods_of(t), t->n);
	copy_list(coords, coords_of(t), t->n);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_get, gompi_cart_get);

int gompi_cart_rank(MPI_Comm comm, const int coords[], int *rank) {
	int rc, at = 0;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_CART, "MPI_Cart_rank", &rc);
	if (c == NULL)
		return rc;
	if (rank == NULL)
		return raise_no_result(comm, "MPI_Cart_rank", "rank");
	const struct gompi_topology *t = &c->topology;
	const int32_t *dims = dims_of(t);
	if (is_list_invalid(t->n, coords))
		return raise_list_error(comm, "MPI_Cart_rank", "coordinates", t->n);
	for (int i = 0; i < t->n; i++) {
		int d = dims[i], x = coords[i];
		if ((uint32_t)x >= (uint32_t)d) {
			if (!periods_of(t)[i])
				return raise_topology_error(
					comm, "MPI_Cart_rank", MPI_ERR_ARG,
					"coords[%d] is %d; it must be from 0 to %d, because the dimension is not "
					"periodic",
					i, x, d - 1);
			x = (x % d + d) % d;
		}
		at = at * d + x;
	}
	*rank = at;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_rank, gompi_cart_rank);

int gompi_cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_CART, "MPI_Cart_coords", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if ((uint32_t)rank >= (uint32_t)c->size)
		return raise_rank_error(comm, "MPI_Cart_coords", rank, c->size);
	if (maxdims < t->n || is_list_invalid(t->n, coords))
		return raise_results_error(comm, "MPI_Cart_coords", maxdims, t->n);
	const int32_t *dims = dims_of(t);
	for (int i = t->n - 1; i >= 0; i--) {
		uint32_t d = (uint32_t)dims[i], left = (uint32_t)rank / d;
		coords[i] = (int)((uint32_t)rank - left * d);
		rank = (int)left;
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_coords, gompi_cart_coords);

// Returns the rank of the process at distance `disp` from rank `me` along the dimension `dim`, or MPI_PROC_NULL if that
// is beyond the border of a dimension that is not periodic. One step along this dimension changes the rank by `stride`.
static inline int shifted_rank(const struct gompi_topology *t, int me, int dim, int stride, int64_t disp) {
	int d = dims_of(t)[dim], x = coords_of(t)[dim];
	int64_t to = x + disp;
	if (to < 0 || to >= d) {
		if (!periods_of(t)[dim])
			return MPI_PROC_NULL;
		to = (to % d + d) % d;
	}
	return me + ((int)to - x) * stride;
}

int gompi_cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest) {
	int rc, stride = 1;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_CART, "MPI_Cart_shift", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if ((uint32_t)direction >= (uint32_t)t->n)
		return raise_topology_error(comm, "MPI_Cart_shift", MPI_ERR_ARG,
					    "direction is %d, but the topology has %d dimension%s, numbered from 0",
					    direction, t->n, t->n == 1 ? "" : "s");
	if (rank_source == NULL || rank_dest == NULL)
		return raise_no_result(comm, "MPI_Cart_shift", "rank_source or rank_dest");
	if (disp == 1) {
		*rank_source = t->ranks[2 * direction];
		*rank_dest = t->ranks[2 * direction + 1];
		return MPI_SUCCESS;
	}
	for (int i = direction + 1; i < t->n; i++)
		stride *= dims_of(t)[i];
	*rank_source = shifted_rank(t, c->rank, direction, stride, -(int64_t)disp);
	*rank_dest = shifted_rank(t, c->rank, direction, stride, disp);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_shift, gompi_cart_shift);

__attribute__((cold, noinline)) static int raise_grid_error(MPI_Comm comm, int size, int ndims, const int dims[]) {
	char list[sizeof((struct gompi_error_status *)0)->text / 2] = "";
	size_t n = 0;
	for (int i = 0; i < ndims && n < sizeof list - 16; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, i == 0 ? "%d" : " %d", dims[i]);
	return raise_topology_error(comm, "MPI_Cart_map", MPI_ERR_ARG,
				    "the grid [%s] needs more processes than the communicator has (%d)", list, size);
}

// Returns the communicator if it is an intracommunicator and newrank is not NULL. Otherwise raises the error, stores in
// *rc the value that the call must return, and returns NULL.
static inline const struct gompi_comm *comm_to_map(MPI_Comm comm, const char *call, const int *newrank, int *rc) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (__builtin_expect(c != NULL && newrank != NULL && !c->is_inter, 1))
		return c;
	*rc = c == NULL ? gompi_raise_invalid_comm(comm, call)
	      : newrank == NULL
		      ? raise_no_result(comm, call, "newrank")
		      : raise_topology_error(
				comm, call, MPI_ERR_COMM,
				"the communicator is an intercommunicator; the call needs an intracommunicator");
	return NULL;
}

// Stores the rank of the caller in the grid, or MPI_UNDEFINED if the grid has no place for the caller. The rank is the
// caller's old rank: MPI_Cart_map and MPI_Graph_map do not reorder. The two calls reject the same arguments as NewCart
// and NewGraph in core/comm.
int gompi_cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank) {
	static const char call[] = "MPI_Cart_map";
	int rc;
	int64_t places = 1;
	const struct gompi_comm *c = comm_to_map(comm, call, newrank, &rc);
	if (c == NULL)
		return rc;
	if (is_list_invalid(ndims, dims))
		return raise_list_error(comm, call, "dims", ndims);
	if (is_list_invalid(ndims, periods))
		return raise_list_error(comm, call, "periods", ndims);
	for (int i = 0; i < ndims; i++) {
		if (dims[i] <= 0)
			return raise_topology_error(comm, call, MPI_ERR_DIMS, "dims[%d] is %d; it must be positive", i,
						    dims[i]);
		if ((places *= dims[i]) > c->size)
			return raise_grid_error(comm, c->size, ndims, dims);
	}
	*newrank = c->rank < places ? c->rank : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_map, gompi_cart_map);

int gompi_graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank) {
	static const char call[] = "MPI_Graph_map";
	int rc, last = 0;
	const struct gompi_comm *c = comm_to_map(comm, call, newrank, &rc);
	if (c == NULL)
		return rc;
	if (is_list_invalid(nnodes, indx))
		return raise_list_error(comm, call, "indices", nnodes);
	int n = nnodes > 0 ? indx[nnodes - 1] : 0;
	if (is_list_invalid(n, edges))
		return raise_list_error(comm, call, "edges", n);
	if (nnodes > c->size)
		return raise_topology_error(comm, call, MPI_ERR_ARG,
					    "the graph has %d nodes, but the size of the communicator is %d", nnodes,
					    c->size);
	for (int i = 0; i < nnodes; last = indx[i++])
		if (indx[i] < last || indx[i] > n)
			return raise_topology_error(
				comm, call, MPI_ERR_ARG,
				"index[%d] is %d; it must be from %d (previous entry) to %d (number of edges)", i,
				indx[i], last, n);
	for (int i = 0; i < n; i++)
		if ((uint32_t)edges[i] >= (uint32_t)nnodes)
			return raise_topology_error(comm, call, MPI_ERR_ARG,
						    "edges[%d] is %d; valid nodes of the graph are 0 to %d", i,
						    edges[i], nnodes - 1);
	*newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_map, gompi_graph_map);

/* Graphs (MPI_Graph_create): every member stores the whole graph. The edges of rank i are index[i-1] to index[i]-1. */

static inline int first_neighbor(const struct gompi_topology *t, int rank) {
	return rank > 0 ? index_of(t)[rank - 1] : 0;
}

int gompi_graphdims_get(MPI_Comm comm, int *nnodes, int *nedges) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_GRAPH, "MPI_Graphdims_get", &rc);
	if (c == NULL)
		return rc;
	if (nnodes == NULL || nedges == NULL)
		return raise_no_result(comm, "MPI_Graphdims_get", "nnodes or nedges");
	*nnodes = c->topology.n;
	*nedges = c->topology.edges;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graphdims_get, gompi_graphdims_get);

int gompi_graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_GRAPH, "MPI_Graph_get", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	int n = smaller(maxindex, t->n), m = smaller(maxedges, t->edges);
	if (is_list_invalid(n, indx))
		return raise_list_error(comm, "MPI_Graph_get", "indices", n);
	if (is_list_invalid(m, edges))
		return raise_list_error(comm, "MPI_Graph_get", "edges", m);
	copy_list(indx, index_of(t), n);
	copy_list(edges, edges_of(t), m);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_get, gompi_graph_get);

int gompi_graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_GRAPH, "MPI_Graph_neighbors_count", &rc);
	if (c == NULL)
		return rc;
	if ((uint32_t)rank >= (uint32_t)c->size)
		return raise_rank_error(comm, "MPI_Graph_neighbors_count", rank, c->size);
	if (nneighbors == NULL)
		return raise_no_result(comm, "MPI_Graph_neighbors_count", "nneighbors");
	*nneighbors = index_of(&c->topology)[rank] - first_neighbor(&c->topology, rank);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_neighbors_count, gompi_graph_neighbors_count);

int gompi_graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_GRAPH, "MPI_Graph_neighbors", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if ((uint32_t)rank >= (uint32_t)c->size)
		return raise_rank_error(comm, "MPI_Graph_neighbors", rank, c->size);
	int from = first_neighbor(t, rank), n = smaller(maxneighbors, index_of(t)[rank] - from);
	if (is_list_invalid(n, neighbors))
		return raise_list_error(comm, "MPI_Graph_neighbors", "neighbors", n);
	copy_list(neighbors, edges_of(t) + from, n);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_neighbors, gompi_graph_neighbors);

/* Distributed graphs: each member stores only its own neighbors. */

int gompi_dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors_count", &rc);
	if (c == NULL)
		return rc;
	if (indegree == NULL || outdegree == NULL || weighted == NULL)
		return raise_no_result(comm, "MPI_Dist_graph_neighbors_count", "indegree, outdegree or weighted");
	*indegree = c->topology.sources;
	*outdegree = c->topology.destinations;
	*weighted = c->topology.weighted;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dist_graph_neighbors_count, gompi_dist_graph_neighbors_count);

// Returns true if the graph has weights and the caller asks for them.
static inline bool wants_weights(const struct gompi_topology *t, const int *weights) {
	return t->weighted && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static inline bool is_side_invalid(const struct gompi_topology *t, int n, const int *ranks, const int *weights) {
	return is_list_invalid(n, ranks) || (wants_weights(t, weights) && is_list_invalid(n, weights));
}

__attribute__((cold, noinline)) static int raise_neighbors_error(MPI_Comm comm, int n, const int *ranks) {
	return raise_list_error(comm, "MPI_Dist_graph_neighbors", is_list_invalid(n, ranks) ? "neighbors" : "weights",
				n);
}

static inline void copy_neighbors(const struct gompi_topology *t, int first, int n, int *ranks, int *weights) {
	copy_list(ranks, t->ranks + first, n);
	if (wants_weights(t, weights))
		copy_list(weights, topology_data(t) + first, n);
}

int gompi_dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
			       int destinations[], int destweights[]) {
	int rc;
	const struct gompi_comm *c = comm_with_topology(comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	int in = smaller(maxindegree, t->sources), out = smaller(maxoutdegree, t->destinations);
	if (is_side_invalid(t, in, sources, sourceweights))
		return raise_neighbors_error(comm, in, sources);
	if (is_side_invalid(t, out, destinations, destweights))
		return raise_neighbors_error(comm, out, destinations);
	copy_neighbors(t, 0, in, sources, sourceweights);
	copy_neighbors(t, t->sources, out, destinations, destweights);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dist_graph_neighbors, gompi_dist_graph_neighbors);
