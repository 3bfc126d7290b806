/* Proves: neighborhood collectives deliver every block to the right place. Covers grids (with borders, with the same
 *   process as left and right neighbor, with a process as its own neighbor) and a distributed graph with double edges.
 *   The blocks of missing neighbors do not change. A communicator without topology is refused. MPI-5.0 8.6
 * np: 1 2 5
 * args: ring line torus graph
 * ref: mpich
 * ref-wrong: ring torus graph (MPICH mixes up the blocks of a neighbor that is connected by two edges)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 64, C_MOST = 3000 };

static int n, me, sources, destinations, source[MOST], destination[MOST];
static int in[MOST * C_MOST], out[MOST * C_MOST];
static MPI_Comm comm;

static int value(int from, int k, int i) { return from * 1000000 + k * 10000 + i; }

/* Stores the destinations of rank r in the graph: rank r + 1 twice and rank r + 2 once. Rank 0 also has an edge to
 * every rank. Returns their number. */
static int edges(int r, int *to) {
	int k = 0;
	to[k++] = (r + 1) % n, to[k++] = (r + 2) % n, to[k++] = (r + 1) % n;
	for (int q = 0; r == 0 && q < n; q++)
		to[k++] = q;
	return k;
}

static void make(void) {
	int one[] = {n}, two[] = {n, 1}, yes[] = {1, 1}, no[] = {0};
	if (strcmp(check_arg, "graph") == 0) {
		destinations = edges(me, destination);
		for (int r = 0; r < n; r++) {
			int to[MOST], k = edges(r, to);
			for (int i = 0; i < k; i++)
				if (to[i] == me)
					source[sources++] = r;
		}
		int weights[MOST] = {0};
		MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, source, weights, destinations, destination,
					       weights, MPI_INFO_NULL, 0, &comm);
		return;
	}
	int dims = strcmp(check_arg, "torus") == 0 ? 2 : 1;
	MPI_Cart_create(MPI_COMM_WORLD, dims, dims == 2 ? two : one, strcmp(check_arg, "line") == 0 ? no : yes, 0,
			&comm);
	for (int d = 0; d < dims; d++)
		MPI_Cart_shift(comm, d, 1, &source[2 * d], &source[2 * d + 1]);
	sources = destinations = 2 * dims;
	memcpy(destination, source, sizeof source);
}

/* Returns the position of received block i among the blocks that its sender sends. */
static int counterpart(int i) {
	int to[MOST], k, nth = 0;
	if (strcmp(check_arg, "graph") != 0)
		return i ^ 1;
	for (int j = 0; j < i; j++)
		nth += source[j] == source[i];
	edges(source[i], to);
	for (k = 0; to[k] != me || nth-- > 0; k++)
		;
	return k;
}

static void check(const char *what, int count, int per_edge) {
	for (int i = 0; i < sources; i++)
		for (int j = 0; j < count; j++) {
			int x = source[i] == MPI_PROC_NULL ? -1 : value(source[i], per_edge ? counterpart(i) : 0, j);
			CHECK(out[i * count + j] == x, "%s of %d: block %d from %d: [%d] is %d, not %d", what, count, i,
			      source[i], j, out[i * count + j], x);
		}
	for (int i = 0; i < sources * count; i++)
		out[i] = -1;
}

static void all(int count) {
	MPI_Request r;
	int counts[MOST], starts[MOST];
	MPI_Aint bytes[MOST];
	MPI_Datatype types[MOST];
	for (int i = 0; i < MOST; i++)
		counts[i] = count, starts[i] = i * count, bytes[i] = starts[i] * (MPI_Aint)sizeof(int),
		types[i] = MPI_INT;
	for (int i = 0; i < sources * count; i++)
		out[i] = -1;
	for (int k = 0; k < destinations; k++)
		for (int i = 0; i < count; i++)
			in[k * count + i] = value(me, k, i);
	CHECK_OK(MPI_Neighbor_allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
	check("allgather", count, 0);
	CHECK_OK(MPI_Neighbor_allgatherv(in, count, MPI_INT, out, counts, starts, MPI_INT, comm));
	check("allgatherv", count, 0);
	CHECK_OK(MPI_Neighbor_alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
	check("alltoall", count, 1);
	CHECK_OK(MPI_Neighbor_alltoallv(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm));
	check("alltoallv", count, 1);
	CHECK_OK(MPI_Neighbor_alltoallw(in, counts, bytes, types, out, counts, bytes, types, comm));
	check("alltoallw", count, 1);
	CHECK_OK(MPI_Ineighbor_alltoall(in, count, MPI_INT, out, count, MPI_INT, comm, &r));
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	check("ialltoall", count, 1);
	CHECK_OK(MPI_Ineighbor_allgather(in, count, MPI_INT, out, count, MPI_INT, comm, &r));
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	check("iallgather", count, 0);
	CHECK_OK(MPI_Neighbor_alltoallv_init(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm,
					     MPI_INFO_NULL, &r));
	for (int i = 0; i < 2; i++) {
		CHECK_OK(MPI_Start(&r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		check("alltoallv_init", count, 1);
	}
	CHECK_OK(MPI_Request_free(&r));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	make();
	all(1);
	all(C_MOST);
	CHECK_CLASS(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
	MPI_Comm_free(&comm);
	return check_end();
}
