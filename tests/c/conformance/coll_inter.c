/* Proves: on an intercommunicator with groups of different sizes, each group receives the other group's data. In rooted
 *   calls one process passes MPI_ROOT and the rest of its group passes MPI_PROC_NULL. Calls that are not defined for
 *   intercommunicators are refused. MPI-5.0 6.2.3
 * np: 2 3 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 8, C_MOST = 5000 };

static int in[MOST * C_MOST], out[MOST * C_MOST];
static int group, me, mine, theirs;
static MPI_Comm inter;

/* Returns element i of the data that process r of group g sends to process `to` of the other group. */
static int value(int g, int r, int to, int i) { return g * 100000 + r * 10000 + to * 1000 + i % 1000; }

static void fill(int count, int blocks) {
	for (int i = 0; i < MOST * C_MOST; i++)
		out[i] = -1;
	for (int b = 0; b < blocks; b++)
		for (int i = 0; i < count; i++)
			in[b * count + i] = value(group, me, b, i);
}

static int sum(int to, int i) {
	int s = 0;
	for (int r = 0; r < theirs; r++)
		s += value(1 - group, r, to, i);
	return s;
}

#define EXPECT(what, k, x) CHECK(out[k] == (x), "%s of %d: [%d] is %d, not %d", what, count, k, out[k], x)

static void all(int count, int in_requests) {
	MPI_Request r;
	MPI_Datatype I = MPI_INT;
	int C = count;
	/* The root is process 0 of group 0. */
	int root = group == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
	fill(C, theirs);
	CHECK_OK(MPI_Bcast(group == 0 ? in : out, C, I, root, inter));
	for (int i = 0; i < C && group == 1; i++)
		EXPECT("bcast", i, value(0, 0, 0, i));
	fill(C, theirs);
	CHECK_OK(MPI_Reduce(in, out, C, I, MPI_SUM, root, inter));
	for (int i = 0; i < C; i++)
		EXPECT("reduce", i, root == MPI_ROOT ? sum(0, i) : -1);
	fill(C, theirs);
	if (in_requests) {
		CHECK_OK(MPI_Iallreduce(in, out, C, I, MPI_SUM, inter, &r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else {
		CHECK_OK(MPI_Allreduce(in, out, C, I, MPI_SUM, inter));
	}
	for (int i = 0; i < C; i++)
		EXPECT("allreduce", i, sum(0, i));
	fill(C, theirs);
	CHECK_OK(MPI_Gather(in, C, I, out, C, I, root, inter));
	for (int i = 0; i < theirs * C && root == MPI_ROOT; i++)
		EXPECT("gather", i, value(1, i / C, 0, i % C));
	fill(C, theirs);
	CHECK_OK(MPI_Scatter(in, C, I, out, C, I, root, inter));
	for (int i = 0; i < C && group == 1; i++)
		EXPECT("scatter", i, value(0, 0, me, i));
	fill(C, theirs);
	if (in_requests) {
		CHECK_OK(MPI_Iallgather(in, C, I, out, C, I, inter, &r));
		CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else {
		CHECK_OK(MPI_Allgather(in, C, I, out, C, I, inter));
	}
	for (int i = 0; i < theirs * C; i++)
		EXPECT("allgather", i, value(1 - group, i / C, 0, i % C));
	fill(C, theirs);
	CHECK_OK(MPI_Alltoall(in, C, I, out, C, I, inter));
	for (int i = 0; i < theirs * C; i++)
		EXPECT("alltoall", i, value(1 - group, i / C, me, i % C));
	/* Each process contributes mine * theirs * C elements. The sum over a group is divided into one block for each
	 * process of the other group. */
	int counts[MOST], total = mine * theirs * C;
	if (total <= MOST * C_MOST) {
		for (int i = 0; i < mine; i++)
			counts[i] = theirs * C;
		fill(0, 0);
		for (int i = 0; i < total; i++)
			in[i] = value(group, me, 0, i);
		CHECK_OK(MPI_Reduce_scatter(in, out, counts, I, MPI_SUM, inter));
		for (int i = 0; i < theirs * C; i++)
			EXPECT("reduce_scatter", i, sum(0, me * theirs * C + i));
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm half;
	group = check_rank % 3 != 0;
	MPI_Comm_split(MPI_COMM_WORLD, group, 0, &half);
	/* World ranks 0 and 1 are the group leaders. */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, group == 0 ? 1 : 0, 7, &inter);
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Comm_rank(inter, &me);
	MPI_Comm_size(inter, &mine);
	MPI_Comm_remote_size(inter, &theirs);
	for (int round = 0; round < 4; round++) {
		CHECK_OK(MPI_Barrier(inter));
		int counts[] = {0, 1, 100, C_MOST};
		for (int k = 0; k < 4; k++)
			all(counts[k], round % 2);
	}
	int x = 0, y = 0;
	CHECK_CLASS(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, theirs, inter), MPI_ERR_ROOT);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	return check_end();
}
