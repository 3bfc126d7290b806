// Asking topologies (MPI-5.0 8.5). Nothing blocks, communicates or calls Go.
#include "comm/comm.h"

#include <stdio.h>

#include "base/verdict.h"
#include "comm/z_calls.h"

// What stands behind the neighbors.
static const int32_t *more_of(const struct gompi_topology *t) { return t->ranks + t->sources + t->destinations; }

static const int32_t *dims_of(const struct gompi_topology *grid) { return more_of(grid); }
static const int32_t *periods_of(const struct gompi_topology *grid) { return more_of(grid) + grid->n; }
static const int32_t *place_in(const struct gompi_topology *grid) { return more_of(grid) + 2 * grid->n; }

static const int32_t *index_of(const struct gompi_topology *graph) { return more_of(graph); }
static const int32_t *edges_of(const struct gompi_topology *graph) { return more_of(graph) + graph->n; }

// Raises an error on a communicator whose topology was asked.
static int refuse_topology(MPI_Comm comm, const char *call, const struct gompi_verdict *v) {
	return gompi_refuse(v->class, call, v->text, GOMPI_ON_COMM, (uintptr_t)comm);
}

static int no_result(MPI_Comm comm, const char *call) { return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm); }

// Returns the communicator if its topology is of a kind. NULL: the error has been raised, and *rc is what the call
// shall return.
static inline const struct gompi_comm *with_topology(MPI_Comm comm, int kind, const char *call, int *rc) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (__builtin_expect(c != NULL && c->topology.kind == kind, 1))
		return c;
	*rc = c == NULL ? gompi_not_a_communicator(comm, call)
			: gompi_refuse(MPI_ERR_TOPOLOGY, call, "the communicator has no topology of this kind",
				       GOMPI_ON_COMM, (uintptr_t)comm);
	return NULL;
}

// The verdict's class for n numbers at an address: MPI_ERR_ARG if n is negative or there are none.
static inline int check_list(struct gompi_verdict *v, const char *what, int n, const void *at) {
	if (n < 0 || (n > 0 && at == NULL))
		return gompi_error(v, MPI_ERR_ARG, "%d %s at address %#llx", n, what,
				   (unsigned long long)(uintptr_t)at);
	return MPI_SUCCESS;
}

// The same for results of which at most so many have room.
static inline int check_room(struct gompi_verdict *v, int most, int n, const void *at) {
	if (most < n)
		return gompi_error(v, MPI_ERR_ARG, "maxdims is %d where %d are needed", most, n);
	return check_list(v, "results", n, at);
}

static inline int check_member(struct gompi_verdict *v, const struct gompi_comm *c, int rank) {
	if ((uint32_t)rank >= (uint32_t)c->size)
		return gompi_error(v, MPI_ERR_RANK, "rank is %d: the communicator has %d processes", rank, c->size);
	return MPI_SUCCESS;
}

static inline int smaller(int a, int b) { return a < b ? a : b; }

static inline void tell_list(int *to, const int32_t *from, int n) {
	for (int i = 0; i < n; i++)
		to[i] = from[i];
}

int gompi_topo_test(MPI_Comm comm, int *status) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Topo_test");
	if (status == NULL)
		return no_result(comm, "MPI_Topo_test");
	*status = c->topology.kind != 0 ? c->topology.kind : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Topo_test, gompi_topo_test)

/* Grids: the last coordinate runs fastest. */

int gompi_cartdim_get(MPI_Comm comm, int *ndims) {
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_CART, "MPI_Cartdim_get", &rc);
	if (c == NULL)
		return rc;
	if (ndims == NULL)
		return no_result(comm, "MPI_Cartdim_get");
	*ndims = c->topology.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cartdim_get, gompi_cartdim_get)

int gompi_cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_CART, "MPI_Cart_get", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if (check_room(&v, maxdims, t->n, dims) != 0 || check_room(&v, maxdims, t->n, periods) != 0 ||
	    check_room(&v, maxdims, t->n, coords) != 0)
		return refuse_topology(comm, "MPI_Cart_get", &v);
	tell_list(dims, dims_of(t), t->n);
	tell_list(periods, periods_of(t), t->n);
	tell_list(coords, place_in(t), t->n);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_get, gompi_cart_get)

int gompi_cart_rank(MPI_Comm comm, const int coords[], int *rank) {
	struct gompi_verdict v;
	int rc, at = 0;
	const struct gompi_comm *c = with_topology(comm, MPI_CART, "MPI_Cart_rank", &rc);
	if (c == NULL)
		return rc;
	if (rank == NULL)
		return no_result(comm, "MPI_Cart_rank");
	const struct gompi_topology *t = &c->topology;
	const int32_t *dims = dims_of(t);
	if (check_list(&v, "coordinates", t->n, coords) != 0)
		return refuse_topology(comm, "MPI_Cart_rank", &v);
	for (int i = 0; i < t->n; i++) {
		int d = dims[i], x = coords[i];
		if ((uint32_t)x >= (uint32_t)d) {
			if (!periods_of(t)[i]) {
				gompi_error(&v, MPI_ERR_ARG,
					    "coords[%d] is %d: that dimension has %d places and is not periodic", i, x,
					    d);
				return refuse_topology(comm, "MPI_Cart_rank", &v);
			}
			x = (x % d + d) % d;
		}
		at = at * d + x;
	}
	*rank = at;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_rank, gompi_cart_rank)

int gompi_cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_CART, "MPI_Cart_coords", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if (check_member(&v, c, rank) != 0 || check_room(&v, maxdims, t->n, coords) != 0)
		return refuse_topology(comm, "MPI_Cart_coords", &v);
	const int32_t *dims = dims_of(t);
	for (int i = t->n - 1; i >= 0; i--) {
		uint32_t d = (uint32_t)dims[i], left = (uint32_t)rank / d;
		coords[i] = (int)((uint32_t)rank - left * d);
		rank = (int)left;
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_coords, gompi_cart_coords)

// Returns the rank so many places on along a dimension, of which one step changes the rank by stride; MPI_PROC_NULL
// where the grid ends.
static inline int walk(const struct gompi_topology *t, int me, int dim, int stride, int64_t disp) {
	int d = dims_of(t)[dim], x = place_in(t)[dim];
	int64_t to = x + disp;
	if (to < 0 || to >= d) {
		if (!periods_of(t)[dim])
			return MPI_PROC_NULL;
		to = (to % d + d) % d;
	}
	return me + ((int)to - x) * stride;
}

int gompi_cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest) {
	struct gompi_verdict v;
	int rc, stride = 1;
	const struct gompi_comm *c = with_topology(comm, MPI_CART, "MPI_Cart_shift", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if ((uint32_t)direction >= (uint32_t)t->n) {
		gompi_error(&v, MPI_ERR_ARG, "direction is %d: the grid has %d dimensions", direction, t->n);
		return refuse_topology(comm, "MPI_Cart_shift", &v);
	}
	if (rank_source == NULL || rank_dest == NULL)
		return no_result(comm, "MPI_Cart_shift");
	if (disp == 1) {
		*rank_source = t->ranks[2 * direction];
		*rank_dest = t->ranks[2 * direction + 1];
		return MPI_SUCCESS;
	}
	for (int i = direction + 1; i < t->n; i++)
		stride *= dims_of(t)[i];
	*rank_source = walk(t, c->rank, direction, stride, -(int64_t)disp);
	*rank_dest = walk(t, c->rank, direction, stride, disp);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_shift, gompi_cart_shift)

// The verdict's class for a grid that is too large for a communicator.
__attribute__((cold)) static int too_large(struct gompi_verdict *v, const struct gompi_comm *c, int ndims,
					   const int dims[]) {
	char list[sizeof v->text / 2] = "";
	size_t n = 0;
	for (int i = 0; i < ndims && n < sizeof list - 16; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, i == 0 ? "%d" : " %d", dims[i]);
	return gompi_error(v, MPI_ERR_ARG, "a grid of [%s] has more places than the communicator members, %d", list,
			   c->size);
}

// Stores how many places a grid has. The verdict's class, as core/comm has it for NewCart.
static int check_grid(struct gompi_verdict *v, const struct gompi_comm *c, int ndims, const int dims[],
		      const int periods[], int *places) {
	int64_t n = 1;
	if (check_list(v, "dims", ndims, dims) != 0 || check_list(v, "periods", ndims, periods) != 0)
		return v->class;
	for (int i = 0; i < ndims; i++) {
		if (dims[i] <= 0)
			return gompi_error(v, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
		if ((n *= dims[i]) > c->size)
			return too_large(v, c, ndims, dims);
	}
	*places = (int)n;
	return MPI_SUCCESS;
}

// The same for a graph.
static int check_graph(struct gompi_verdict *v, const struct gompi_comm *c, int nnodes, const int indx[],
		       const int edges[]) {
	int last = 0, n;
	if (check_list(v, "indices", nnodes, indx) != 0)
		return v->class;
	n = nnodes > 0 ? indx[nnodes - 1] : 0;
	if (check_list(v, "edges", n, edges) != 0)
		return v->class;
	if (nnodes > c->size)
		return gompi_error(v, MPI_ERR_ARG, "a graph of %d nodes, and the communicator has %d members", nnodes,
				   c->size);
	for (int i = 0; i < nnodes; last = indx[i++])
		if (indx[i] < last || indx[i] > n)
			return gompi_error(v, MPI_ERR_ARG, "index[%d] is %d, after %d and with %d edges", i, indx[i],
					   last, n);
	for (int i = 0; i < n; i++)
		if ((uint32_t)edges[i] >= (uint32_t)nnodes)
			return gompi_error(v, MPI_ERR_ARG, "edges[%d] is %d: the graph has %d nodes", i, edges[i],
					   nnodes);
	return MPI_SUCCESS;
}

// MPI_Cart_map and MPI_Graph_map where something is to be refused, or looked at closer. Ranks are not reordered.
static __attribute__((noinline)) int map(MPI_Comm comm, const char *call, bool is_grid, int n, const int first[],
					 const int second[], int *newrank) {
	struct gompi_verdict v;
	const struct gompi_comm *c = gompi_comm_get(comm);
	int places = n, rc;
	if (c == NULL)
		return gompi_not_a_communicator(comm, call);
	if (newrank == NULL)
		return no_result(comm, call);
	if (c->inter)
		rc = gompi_error(&v, MPI_ERR_COMM, "it is an intercommunicator: an intracommunicator is needed");
	else
		rc = is_grid ? check_grid(&v, c, n, first, second, &places) : check_graph(&v, c, n, first, second);
	if (rc != MPI_SUCCESS)
		return refuse_topology(comm, call, &v);
	*newrank = c->rank < places ? c->rank : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

int gompi_cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL || c->inter || ndims <= 0 || dims == NULL || periods == NULL || newrank == NULL)
		return map(comm, "MPI_Cart_map", true, ndims, dims, periods, newrank);
	int64_t places = 1;
	for (int i = 0; i < ndims && places <= c->size; i++)
		places *= dims[i] > 0 ? dims[i] : INT32_MAX;
	if (places > c->size)
		return map(comm, "MPI_Cart_map", true, ndims, dims, periods, newrank);
	*newrank = c->rank < places ? c->rank : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cart_map, gompi_cart_map)

int gompi_graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank) {
	return map(comm, "MPI_Graph_map", false, nnodes, indx, edges, newrank);
}
GOMPI_ENTRY(MPI_Graph_map, gompi_graph_map)

/* Graphs that every member knows whole: the neighbors of rank i are the edges from index[i-1] up to index[i]. */

static inline int neighbors_from(const struct gompi_topology *t, int rank) {
	return rank > 0 ? index_of(t)[rank - 1] : 0;
}

int gompi_graphdims_get(MPI_Comm comm, int *nnodes, int *nedges) {
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_GRAPH, "MPI_Graphdims_get", &rc);
	if (c == NULL)
		return rc;
	if (nnodes == NULL || nedges == NULL)
		return no_result(comm, "MPI_Graphdims_get");
	*nnodes = c->topology.n;
	*nedges = c->topology.edges;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graphdims_get, gompi_graphdims_get)

int gompi_graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_GRAPH, "MPI_Graph_get", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	int n = smaller(maxindex, t->n), m = smaller(maxedges, t->edges);
	if (check_list(&v, "indices", n, indx) != 0 || check_list(&v, "edges", m, edges) != 0)
		return refuse_topology(comm, "MPI_Graph_get", &v);
	tell_list(indx, index_of(t), n);
	tell_list(edges, edges_of(t), m);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_get, gompi_graph_get)

int gompi_graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_GRAPH, "MPI_Graph_neighbors_count", &rc);
	if (c == NULL)
		return rc;
	if (check_member(&v, c, rank) != 0)
		return refuse_topology(comm, "MPI_Graph_neighbors_count", &v);
	if (nneighbors == NULL)
		return no_result(comm, "MPI_Graph_neighbors_count");
	*nneighbors = index_of(&c->topology)[rank] - neighbors_from(&c->topology, rank);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_neighbors_count, gompi_graph_neighbors_count)

int gompi_graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_GRAPH, "MPI_Graph_neighbors", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	if (check_member(&v, c, rank) != 0)
		return refuse_topology(comm, "MPI_Graph_neighbors", &v);
	int from = neighbors_from(t, rank), n = smaller(maxneighbors, index_of(t)[rank] - from);
	if (check_list(&v, "neighbors", n, neighbors) != 0)
		return refuse_topology(comm, "MPI_Graph_neighbors", &v);
	tell_list(neighbors, edges_of(t) + from, n);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Graph_neighbors, gompi_graph_neighbors)

/* Distributed graphs, of which each member knows its neighbors. */

int gompi_dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted) {
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors_count", &rc);
	if (c == NULL)
		return rc;
	if (indegree == NULL || outdegree == NULL || weighted == NULL)
		return no_result(comm, "MPI_Dist_graph_neighbors_count");
	*indegree = c->topology.sources;
	*outdegree = c->topology.destinations;
	*weighted = c->topology.weighted;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dist_graph_neighbors_count, gompi_dist_graph_neighbors_count)

// Returns true if weights are asked for that there are.
static inline bool wants_weights(const struct gompi_topology *t, const int *weights) {
	return t->weighted && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static inline int check_side(struct gompi_verdict *v, const struct gompi_topology *t, int n, const int *ranks,
			     const int *weights) {
	int rc = check_list(v, "neighbors", n, ranks);
	return rc != 0 || !wants_weights(t, weights) ? rc : check_list(v, "weights", n, weights);
}

static inline void tell_side(const struct gompi_topology *t, int first, int n, int *ranks, int *weights) {
	tell_list(ranks, t->ranks + first, n);
	if (wants_weights(t, weights))
		tell_list(weights, more_of(t) + first, n);
}

int gompi_dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
			       int destinations[], int destweights[]) {
	struct gompi_verdict v;
	int rc;
	const struct gompi_comm *c = with_topology(comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors", &rc);
	if (c == NULL)
		return rc;
	const struct gompi_topology *t = &c->topology;
	int in = smaller(maxindegree, t->sources), out = smaller(maxoutdegree, t->destinations);
	if (check_side(&v, t, in, sources, sourceweights) != 0 ||
	    check_side(&v, t, out, destinations, destweights) != 0)
		return refuse_topology(comm, "MPI_Dist_graph_neighbors", &v);
	tell_side(t, 0, in, sources, sourceweights);
	tell_side(t, t->sources, out, destinations, destweights);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Dist_graph_neighbors, gompi_dist_graph_neighbors)
