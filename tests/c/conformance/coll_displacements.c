/* Proves: the v and w forms of collectives ignore the displacement of a block without data, and of a neighbor that is
 *   MPI_PROC_NULL. No data is packed for an MPI_PROC_NULL neighbor. A displacement that overflows 64 bits in bytes is
 *   an error at every member. Then nothing is stored, even if the displacement modulo 2^64 lies in the buffer. MPI-5.0
 *   6.5, 6.6, 6.7, 6.8, 8.6
 * np: 1 3
 * args: empty nobody far
 * ref: mpich
 * ref-wrong: far (it computes modulo 2^64)
 * timeout: 60
 */
#include "../check.h"

#include <limits.h>

enum { MOST = 8 };

static int in[4 * MOST], out[4 * MOST], counts[MOST], places[MOST], some[MOST];
static MPI_Count counts_c[MOST];
static MPI_Aint wild_c[MOST];
static MPI_Datatype types[MOST];

static void clear(void) {
	for (int i = 0; i < 4 * MOST; i++)
		in[i] = 100 * check_rank + i, out[i] = -1;
}

/* Checks that out[i] is value[i] if block i has data (some[i]), and still -1 otherwise. Then resets the buffers. */
static void expect(const char *what, const int *value, int n) {
	for (int i = 0; i < n; i++)
		CHECK(out[i] == (some[i] ? value[i] : -1), "%s: element %d is %d", what, i, out[i]);
	clear();
}

/* Tests blocks without data. Block i has data only if i is odd, and the displacements of the empty blocks are
 * arbitrary. */
static void empty(void) {
	int value[MOST];
	for (int i = 0; i < check_size; i++) {
		some[i] = counts[i] = i & 1;
		places[i] = i & 1 ? i : INT_MAX;
		types[i] = MPI_INT;
		value[i] = 100 * i;
	}
	clear();
	MPI_Allgatherv(in, counts[check_rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
	expect("MPI_Allgatherv", value, check_size);
	MPI_Gatherv(in, counts[check_rank], MPI_INT, out, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
	if (check_rank == 0)
		expect("MPI_Gatherv", value, check_size);
	clear();
	MPI_Scatterv(in, counts, places, MPI_INT, out, counts[check_rank], MPI_INT, 0, MPI_COMM_WORLD);
	CHECK(out[0] == (check_rank & 1 ? check_rank : -1), "MPI_Scatterv: %d", out[0]);
	clear();
	/* two ranks exchange data only if both are odd */
	for (int i = 0; i < check_size; i++) {
		some[i] = counts[i] = i & check_rank & 1;
		places[i] = counts[i] ? i : -INT_MAX;
		value[i] = 100 * i + check_rank;
	}
	MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
	expect("MPI_Alltoallv", value, check_size);
	for (int i = 0; i < check_size; i++)
		places[i] = counts[i] ? 4 * i : INT_MIN;
	MPI_Alltoallw(in, counts, places, types, out, counts, places, types, MPI_COMM_WORLD);
	expect("MPI_Alltoallw", value, check_size);
}

/* Tests MPI_PROC_NULL neighbors on a line: one of the two neighbors of the first and of the last process is
 * MPI_PROC_NULL. */
static void nobody(void) {
	MPI_Comm line;
	MPI_Datatype gap;
	int straight = 0, neighbors[2], two[2] = {1, 1};
	MPI_Aint bytes[2], zero[2] = {0, 0};
	MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &straight, 0, &line);
	MPI_Cart_shift(line, 0, 1, &neighbors[0], &neighbors[1]);
	MPI_Type_vector(2, 1, 2, MPI_INT, &gap);
	MPI_Type_commit(&gap);
	for (int i = 0; i < 2; i++) {
		some[i] = neighbors[i] != MPI_PROC_NULL;
		places[i] = some[i] ? i : INT_MAX;
		bytes[i] = some[i] ? 4 * i : (MPI_Aint)1 << 61;
	}
	int value[2] = {100 * neighbors[0], 100 * neighbors[1]};
	clear();
	MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, two, places, MPI_INT, line);
	expect("MPI_Neighbor_allgatherv", value, 2);
	int nowhere[2] = {0, 0};
	MPI_Neighbor_alltoallv(in, two, nowhere, MPI_INT, out, two, places, MPI_INT, line);
	expect("MPI_Neighbor_alltoallv", value, 2);
	MPI_Datatype ints[2] = {MPI_INT, MPI_INT}, gaps[2] = {gap, gap};
	MPI_Neighbor_alltoallw(in, two, zero, ints, out, two, bytes, ints, line);
	expect("MPI_Neighbor_alltoallw", value, 2);
	/* types with gaps, so that the library must pack the data */
	MPI_Aint far[2];
	for (int i = 0; i < 2; i++)
		far[i] = some[i] ? 16 * i : (MPI_Aint)1 << 61;
	MPI_Neighbor_alltoallw(in, two, far, gaps, out, two, far, gaps, line);
	for (int i = 0; i < 2; i++)
		if (some[i])
			CHECK(out[4 * i] == 100 * neighbors[i] + 4 * (1 - i) && out[4 * i + 1] == -1 &&
				      out[4 * i + 2] == 100 * neighbors[i] + 4 * (1 - i) + 2,
			      "MPI_Neighbor_alltoallw of a type with gaps: %d %d %d", out[4 * i], out[4 * i + 1],
			      out[4 * i + 2]);
	MPI_Type_free(&gap);
	MPI_Comm_free(&line);
}

static void nothing(const char *what) {
	for (int i = 0; i < 4 * MOST; i++)
		CHECK(out[i] == -1, "%s: element %d is %d", what, i, out[i]);
}

/* Tests displacements that overflow: the displacement of 2^62 + 1 elements of 4 bytes is 4 bytes modulo 2^64. */
static void far(void) {
	MPI_Request r;
	for (int i = 0; i < check_size; i++) {
		counts_c[i] = 1;
		wild_c[i] = i;
	}
	wild_c[check_size - 1] = ((MPI_Aint)1 << 62) + 1;
	clear();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Allgatherv_c(in, 1, MPI_INT, out, counts_c, wild_c, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Iallgatherv_c(in, 1, MPI_INT, out, counts_c, wild_c, MPI_INT, MPI_COMM_WORLD, &r), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Allgatherv_init_c(in, 1, MPI_INT, out, counts_c, wild_c, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
					  &r),
		    MPI_ERR_ARG);
	nothing("MPI_Allgatherv");
	MPI_Aint at[MOST];
	for (int i = 0; i < check_size; i++)
		at[i] = i;
	CHECK_CLASS(MPI_Alltoallv_c(in, counts_c, at, MPI_INT, out, counts_c, wild_c, MPI_INT, MPI_COMM_WORLD),
		    MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallv_c(in, counts_c, wild_c, MPI_INT, out, counts_c, at, MPI_INT, MPI_COMM_WORLD),
		    MPI_ERR_ARG);
	nothing("MPI_Alltoallv");
	if (check_rank == 0) {
		CHECK_CLASS(MPI_Gatherv_c(in, 1, MPI_INT, out, counts_c, wild_c, MPI_INT, 0, MPI_COMM_WORLD),
			    MPI_ERR_ARG);
		CHECK_CLASS(MPI_Scatterv_c(in, counts_c, wild_c, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD),
			    MPI_ERR_ARG);
		nothing("MPI_Gatherv, MPI_Scatterv");
	}
	/* The extent is 2^62 bytes: the offset of element 2 overflows, and the address of element 4 wraps to element
	 * 0. */
	MPI_Datatype apart;
	MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 62, &apart);
	MPI_Type_commit(&apart);
	CHECK_CLASS(MPI_Allgather(in, 5, MPI_INT, out, 5, apart, MPI_COMM_WORLD), MPI_ERR_COUNT);
	if (check_size > 2)
		CHECK_CLASS(MPI_Allgather(in, 1, MPI_INT, out, 1, apart, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Send(in, 5, apart, check_rank, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	MPI_Type_free(&apart);
	nothing("MPI_Allgather");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "empty") == 0)
		empty();
	if (strcmp(check_arg, "nobody") == 0)
		nobody();
	if (strcmp(check_arg, "far") == 0)
		far();
	return check_end();
}
