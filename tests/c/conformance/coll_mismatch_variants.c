/* Proves: wrong lengths do not hang the forms of collective calls that coll_mismatch.c does not test. These are
 *   intercommunicators, neighborhood collectives, MPI_IN_PLACE, derived datatypes, and arrays of counts that differ
 *   between ranks. All ranks return, with MPI_ERR_TRUNCATE if data did not fit. Later calls on the same communicator
 *   give the right data. MPI-5.0 6.1, 6.2.3, 8.6
 * np: 2 3 5
 * args: inter neighbor in_place derived arrays
 * ref: none (an error of the program: MPICH hangs)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 30000, RANKS = 8 };
static int in[MOST * RANKS], out[MOST * RANKS];
static int n, me, odd, a, b, mine;

/* Checks the result of a call in which rank `odd` passes a wrong length. The result must be MPI_ERR_TRUNCATE if
 * truncated is set, else any result that a wrong length may have. */
static void result(int code, int truncated, const char *what, int line) {
	int class = check_class(code);
	if (truncated ? class != MPI_ERR_TRUNCATE
		      : class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE && class != MPI_ERR_COUNT)
		check_fail(__FILE__, line, "%s, %d elements but %d at rank %d: class %d (%s)", what, a, b, odd, class,
			   check_string(code));
}
#define RESULT(call, truncated) result(call, truncated, #call, __LINE__)

static int waited(int code, MPI_Request *request) {
	return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void inter(void) {
	MPI_Comm group, c;
	MPI_Request q;
	/* odd_is_local: rank `odd` is in this rank's group */
	int upper = me % 2, odd_is_local = upper == odd % 2;
	MPI_Comm_split(MPI_COMM_WORLD, upper, me, &group);
	MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, !upper, 5, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	int rank, theirs, root = upper == 0 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0; /* the root is world rank 0 */
	MPI_Comm_rank(c, &rank);
	MPI_Comm_remote_size(c, &theirs);
	int longer = !odd_is_local && b > mine;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
#define BOTH(name, iname, ...) (nonblocking ? waited(MPI_##iname(__VA_ARGS__, c, &q), &q) : MPI_##name(__VA_ARGS__, c))
		RESULT(BOTH(Bcast, Ibcast, out, mine, MPI_INT, root), upper == 1 && odd == 0 && b > a);
		RESULT(BOTH(Gather, Igather, in, mine, MPI_INT, out, mine, MPI_INT, root), root == MPI_ROOT && longer);
		RESULT(BOTH(Scatter, Iscatter, in, mine, MPI_INT, out, mine, MPI_INT, root),
		       upper == 1 && odd == 0 && b > a);
		RESULT(BOTH(Allgather, Iallgather, in, mine, MPI_INT, out, mine, MPI_INT), longer);
		RESULT(BOTH(Alltoall, Ialltoall, in, mine, MPI_INT, out, mine, MPI_INT), longer);
		RESULT(BOTH(Reduce, Ireduce, in, out, mine, MPI_INT, MPI_SUM, root), 0);
		RESULT(BOTH(Allreduce, Iallreduce, in, out, mine, MPI_INT, MPI_SUM), 0);
		RESULT(BOTH(Reduce_scatter_block, Ireduce_scatter_block, in, out, mine / n * theirs, MPI_INT, MPI_SUM),
		       0);
		int one = 1, sum = 0;
		CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
		CHECK(sum == theirs, "the sum over the other group is %d, not %d", sum, theirs);
	}
	MPI_Comm_free(&c);
	MPI_Comm_free(&group);
}

static void neighbor(void) {
	MPI_Comm c;
	MPI_Request q;
	int dims[] = {n}, periods[] = {1}, left = (me + n - 1) % n, right = (me + 1) % n;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	int longer = (left == odd || right == odd) && b > mine;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		RESULT(BOTH(Neighbor_allgather, Ineighbor_allgather, in, mine, MPI_INT, out, mine, MPI_INT), longer);
		RESULT(BOTH(Neighbor_alltoall, Ineighbor_alltoall, in, mine, MPI_INT, out, mine, MPI_INT), longer);
		int got[2] = {-1, -1};
		CHECK_OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, c));
		CHECK(got[0] == left && got[1] == right, "neighbors %d %d, not %d %d", got[0], got[1], left, right);
	}
	MPI_Comm_free(&c);
}

static void in_place(void) {
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q;
	int longer = me != odd && b > a, root = odd;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		RESULT(BOTH(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, mine, MPI_INT), longer);
		RESULT(BOTH(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, mine, MPI_INT), longer);
		RESULT(BOTH(Allreduce, Iallreduce, MPI_IN_PLACE, out, mine, MPI_INT, MPI_SUM), me == odd && b < a);
		RESULT(BOTH(Gather, Igather, me == root ? MPI_IN_PLACE : in, mine, MPI_INT, out, mine, MPI_INT, root),
		       me == root && b < a);
		RESULT(BOTH(Scatter, Iscatter, in, mine, MPI_INT, me == root ? MPI_IN_PLACE : out, mine, MPI_INT, root),
		       longer);
	}
}

/* Tests a datatype with gaps: elements of one column of a matrix with two columns. */
static void derived(void) {
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q;
	MPI_Datatype row, column;
	int longer = me != odd && b > a, half = mine / 2;
	MPI_Type_vector(1, 1, 2, MPI_INT, &row);
	MPI_Type_create_resized(row, 0, 2 * sizeof(int), &column);
	MPI_Type_commit(&column);
	for (int i = 0; i < MOST * RANKS; i++)
		out[i] = -7;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		RESULT(BOTH(Bcast, Ibcast, out, half, column, odd), me != odd && b / 2 > a / 2);
		RESULT(BOTH(Allgather, Iallgather, in, half, column, out, half, column), longer && b / 2 > a / 2);
		RESULT(BOTH(Alltoall, Ialltoall, in, half, column, out, half, column), longer && b / 2 > a / 2);
		if (me == odd) { /* rank `odd` receives half of the data that each rank sends */
			RESULT(BOTH(Allgather, Iallgather, in, a / 2, column, out, a / 4, column), a / 2 > a / 4);
		} else {
			RESULT(BOTH(Allgather, Iallgather, in, a / 2, column, out, a / 2, column), 0);
			for (int i = 0; i < n * (a / 2); i++)
				CHECK(out[2 * i] == in[2 * (i % (a / 2 ? a / 2 : 1))],
				      "a right rank got %d as element %d", out[2 * i], i);
		}
	}
	for (int i = 1; i < MOST * RANKS; i += 2)
		if (out[i] != -7) {
			CHECK(0, "the gap at %d was written", i);
			break;
		}
	MPI_Type_free(&column);
	MPI_Type_free(&row);
}

static void arrays(void) {
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Request q;
	MPI_Datatype types[RANKS];
	int counts[RANKS], wrong[RANKS], starts[RANKS], bytes[RANKS], total = 0;
	for (int i = 0; i < n; i++) {
		counts[i] = a;
		wrong[i] = me == odd && i == (odd + 1) % n ? b : a; /* rank `odd` passes a wrong count for one rank */
		starts[i] = i * MOST;
		bytes[i] = starts[i] * (int)sizeof(int);
		types[i] = MPI_INT;
		total += wrong[i];
	}
	int to = (odd + 1) % n;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		RESULT(BOTH(Alltoallw, Ialltoallw, in, wrong, bytes, types, out, counts, bytes, types),
		       me == to && b > a);
		RESULT(BOTH(Alltoallv, Ialltoallv, in, counts, starts, MPI_INT, out, wrong, starts, MPI_INT),
		       me == odd && b < a);
		RESULT(BOTH(Allgatherv, Iallgatherv, in, a, MPI_INT, out, wrong, starts, MPI_INT), me == odd && b < a);
		RESULT(BOTH(Gatherv, Igatherv, in, a, MPI_INT, out, wrong, starts, MPI_INT, odd), me == odd && b < a);
		RESULT(BOTH(Scatterv, Iscatterv, in, wrong, starts, MPI_INT, out, a, MPI_INT, odd), me == to && b > a);
		if (total <= MOST * RANKS)
			RESULT(BOTH(Reduce_scatter, Ireduce_scatter, in, out, wrong, MPI_INT, MPI_SUM), 0);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size;
	me = check_rank;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	static const int lengths[][2] = {{4, 6},   {5, 3},   {4, 0},     {0, 4},         {300, 700},
					 {301, 4}, {4, 901}, {20000, 8}, {12001, 20000}, {0, 20000}};
	static const struct {
		const char *name;
		void (*run)(void);
	} forms[] = {{"inter", inter},
		     {"neighbor", neighbor},
		     {"in_place", in_place},
		     {"derived", derived},
		     {"arrays", arrays}};
	for (int i = 0; i < MOST * RANKS; i++)
		in[i] = i % MOST;
	for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
		for (int f = 0; f < (int)(sizeof forms / sizeof *forms); f++) {
			if (*check_arg != 0 && strcmp(check_arg, forms[f].name) != 0)
				continue;
			odd = i % n;
			a = lengths[i][0];
			b = lengths[i][1];
			mine = me == odd ? b : a;
			forms[f].run();
			int sum = 0, one = me + 1;
			CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
			CHECK(sum == n * (n + 1) / 2, "the sum is %d", sum);
		}
	return check_end();
}
