/* Proves: a collective call accepts MPI_DATATYPE_NULL for a buffer without data, where the count or every count of an
 *   array is 0. This holds if only this rank has no data, and if no rank has any. Arguments that are not significant at
 *   this rank may be arbitrary. MPI_DATATYPE_NULL with data is MPI_ERR_TYPE. Programs rely on this; the standard does
 *   not say which datatype a buffer without elements must have
 * np: 1 2 4
 * args: all one insignificant
 * ref: mpich
 * ref-wrong: all one (MPICH 4.0 refuses it, and the job ends in MPI_Bcast)
 * timeout: 30
 */
#include "../check.h"

#define NONE NULL, 0, MPI_DATATYPE_NULL
enum { MOST = 16 };
static const MPI_Comm W = MPI_COMM_WORLD;
static const MPI_Datatype N = MPI_DATATYPE_NULL;
static int n, me;

static void wait_for(MPI_Request *r) { CHECK_OK(MPI_Wait(r, MPI_STATUS_IGNORE)); }

/* Tests calls in which no rank has data. */
static void all(void) {
	int zero[MOST] = {0};
	MPI_Datatype none[MOST];
	MPI_Request r;
	for (int i = 0; i < MOST; i++)
		none[i] = N;
	CHECK_OK(MPI_Bcast(NONE, 0, W));
	CHECK_OK(MPI_Gather(NONE, NONE, 0, W));
	CHECK_OK(MPI_Scatter(NONE, NONE, 0, W));
	CHECK_OK(MPI_Allgather(NONE, NONE, W));
	CHECK_OK(MPI_Alltoall(NONE, NONE, W));
	CHECK_OK(MPI_Gatherv(NONE, NULL, zero, zero, N, 0, W));
	CHECK_OK(MPI_Scatterv(NULL, zero, zero, N, NONE, 0, W));
	CHECK_OK(MPI_Allgatherv(NONE, NULL, zero, zero, N, W));
	CHECK_OK(MPI_Alltoallv(NULL, zero, zero, N, NULL, zero, zero, N, W));
	CHECK_OK(MPI_Alltoallw(NULL, zero, zero, none, NULL, zero, zero, none, W));
	CHECK_OK(MPI_Ibcast(NONE, 0, W, &r));
	wait_for(&r);
	CHECK_OK(MPI_Igatherv(NONE, NULL, zero, zero, N, 0, W, &r));
	wait_for(&r);
	CHECK_OK(MPI_Ialltoallv(NULL, zero, zero, N, NULL, zero, zero, N, W, &r));
	wait_for(&r);
	CHECK_OK(MPI_Ialltoallw(NULL, zero, zero, none, NULL, zero, zero, none, W, &r));
	wait_for(&r);
	CHECK_OK(MPI_Allgather_init(NONE, NONE, W, MPI_INFO_NULL, &r));
	CHECK_OK(MPI_Start(&r));
	wait_for(&r);
	MPI_Request_free(&r);
	MPI_Comm ring;
	MPI_Cart_create(W, 1, &n, (int[]){0}, 0, &ring);
	CHECK_OK(MPI_Neighbor_allgather(NONE, NONE, ring));
	CHECK_OK(MPI_Neighbor_alltoallv(NULL, zero, zero, N, NULL, zero, zero, N, ring));
	CHECK_OK(MPI_Neighbor_alltoallw(NULL, zero, (MPI_Aint[MOST]){0}, none, NULL, zero, (MPI_Aint[MOST]){0}, none,
					ring));
	MPI_Comm_free(&ring);
}

/* Tests calls in which only the last rank has no data. */
static void one(void) {
	int counts[MOST] = {0}, places[MOST] = {0}, zero[MOST] = {0}, mine[MOST], got[MOST], last = n - 1,
	    idle = me == last;
	MPI_Datatype types[MOST], types_none[MOST];
	for (int i = 0; i < n; i++) {
		counts[i] = i != last;
		places[i] = i;
		mine[i] = 10 * me + i;
		types[i] = i != last ? MPI_INT : N;
		types_none[i] = N;
	}
	memset(got, 0xff, sizeof got);
	CHECK_OK(MPI_Gatherv(idle ? NULL : mine, !idle, idle ? N : MPI_INT, got, counts, places, MPI_INT, 0, W));
	for (int i = 0; me == 0 && i < n; i++)
		CHECK(got[i] == (i == last ? -1 : 10 * i), "MPI_Gatherv: element %d is %d", i, got[i]);
	memset(got, 0xff, sizeof got);
	CHECK_OK(MPI_Scatterv(mine, counts, places, MPI_INT, idle ? NULL : got, !idle, idle ? N : MPI_INT, 0, W));
	CHECK(got[0] == (idle ? -1 : me), "MPI_Scatterv: %d", got[0]);
	memset(got, 0xff, sizeof got);
	CHECK_OK(MPI_Allgatherv(idle ? NULL : mine, !idle, idle ? N : MPI_INT, got, counts, places, MPI_INT, W));
	for (int i = 0; i < n; i++)
		CHECK(got[i] == (i == last ? -1 : 10 * i), "MPI_Allgatherv: element %d is %d", i, got[i]);
	memset(got, 0xff, sizeof got);
	if (idle)
		CHECK_OK(MPI_Alltoallv(NULL, zero, zero, N, NULL, zero, zero, N, W));
	else
		CHECK_OK(MPI_Alltoallv(mine, counts, places, MPI_INT, got, counts, places, MPI_INT, W));
	for (int i = 0; !idle && i < n; i++)
		CHECK(got[i] == (i == last ? -1 : 10 * i + me), "MPI_Alltoallv: element %d is %d", i, got[i]);
	for (int i = 0; i < n; i++)
		places[i] *= (int)sizeof(int);
	memset(got, 0xff, sizeof got);
	if (idle)
		CHECK_OK(MPI_Alltoallw(NULL, zero, zero, types_none, NULL, zero, zero, types_none, W));
	else
		CHECK_OK(MPI_Alltoallw(mine, counts, places, types, got, counts, places, types, W));
	for (int i = 0; !idle && i < n; i++)
		CHECK(got[i] == (i == last ? -1 : 10 * i + me), "MPI_Alltoallw: element %d is %d", i, got[i]);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Bcast(mine, 1, N, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Gather(mine, 1, N, got, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
	counts[0] = 1;
	CHECK_CLASS(MPI_Allgatherv(mine, 1, MPI_INT, got, counts, zero, N, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Alltoallw(mine, counts, zero, types_none, got, counts, zero, types_none, MPI_COMM_SELF),
		    MPI_ERR_TYPE);
}

/* Tests arguments that are significant only at the root. */
static void insignificant(void) {
	int counts[MOST], places[MOST], mine[MOST], got[MOST], root = n - 1, there = me == root;
	MPI_Datatype it = there ? MPI_INT : N;
	for (int i = 0; i < n; i++) {
		counts[i] = 1;
		places[i] = i;
		mine[i] = 10 * me + i;
	}
	memset(got, 0xff, sizeof got);
	CHECK_OK(MPI_Gather(mine, 1, MPI_INT, there ? got : NULL, there ? 1 : -1, it, root, W));
	for (int i = 0; there && i < n; i++)
		CHECK(got[i] == 10 * i, "MPI_Gather: element %d is %d", i, got[i]);
	memset(got, 0xff, sizeof got);
	CHECK_OK(MPI_Gatherv(mine, 1, MPI_INT, there ? got : NULL, there ? counts : NULL, there ? places : NULL, it,
			     root, W));
	for (int i = 0; there && i < n; i++)
		CHECK(got[i] == 10 * i, "MPI_Gatherv: element %d is %d", i, got[i]);
	CHECK_OK(MPI_Scatter(there ? mine : NULL, there ? 1 : -1, it, got, 1, MPI_INT, root, W));
	CHECK(got[0] == 10 * root + me, "MPI_Scatter: %d", got[0]);
	got[0] = -1;
	CHECK_OK(MPI_Scatterv(there ? mine : NULL, there ? counts : NULL, there ? places : NULL, it, got, 1, MPI_INT,
			      root, W));
	CHECK(got[0] == 10 * root + me, "MPI_Scatterv: %d", got[0]);
	CHECK_OK(MPI_Reduce(mine, there ? got : NULL, 1, MPI_INT, MPI_MAX, root, W));
	if (there)
		CHECK(got[0] == 10 * (n - 1), "MPI_Reduce: %d", got[0]);
	CHECK_OK(MPI_Gather(there ? MPI_IN_PLACE : mine, there ? -1 : 1, there ? N : MPI_INT, there ? mine : NULL, 1,
			    it, root, W));
	CHECK_OK(MPI_Allgather(MPI_IN_PLACE, -1, N, mine, 1, MPI_INT, W));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	if (strcmp(check_arg, "all") == 0)
		all();
	else if (strcmp(check_arg, "one") == 0)
		one();
	else
		insignificant();
	return check_end();
}
