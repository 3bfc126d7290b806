/* Proves: no rank hangs if one rank passes a different length to a collective call than the other ranks, or a receive
 *   length that differs from its send length. All ranks return. A rank that receives more data than its buffer holds
 *   returns MPI_ERR_TRUNCATE. No rank writes past the end of its buffer, and later calls give the right data. A
 *   reduction reports an error at every rank whose result is wrong. MPI-5.0 6.1, 9.4
 * np: 1 2 3 5
 * args: bcast gather scatter allgather alltoall gatherv scatterv allgatherv alltoallv reduce allreduce scan exscan
 * args: reduce_scatter_block
 * ref: none (an error of the program: MPICH hangs in some case of each of these calls, with 2 ranks already)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 40000, RANKS = 8, GUARD = 0x5a5a5a5a };
enum {
	BCAST,
	GATHER,
	SCATTER,
	ALLGATHER,
	ALLTOALL,
	GATHERV,
	SCATTERV,
	ALLGATHERV,
	ALLTOALLV,
	REDUCE,
	ALLREDUCE,
	SCAN,
	EXSCAN,
	REDUCE_SCATTER_BLOCK,
	CALLS
};
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static const char *const call_name[CALLS] = {"bcast",     "gather",   "scatter",    "allgather",           "alltoall",
					     "gatherv",   "scatterv", "allgatherv", "alltoallv",           "reduce",
					     "allreduce", "scan",     "exscan",     "reduce_scatter_block"};
static const char *const form_name[FORMS] = {"blocking", "nonblocking", "persistent"};

static int n, me, *in, *out;
static int send_counts[RANKS], receive_counts[RANKS], starts[RANKS];

#define FORM(name, iname, init, ...)                                   \
	(form == BLOCKING      ? MPI_##name(__VA_ARGS__, W)            \
	 : form == NONBLOCKING ? MPI_##iname(__VA_ARGS__, W, &request) \
			       : MPI_##init(__VA_ARGS__, W, MPI_INFO_NULL, &request))

/* Makes one call that sends s elements to each rank and receives r elements from each rank. Stores the size of the
 * receive buffer in ints to *room. */
static int make(int call, int form, int root, int s, int r, int *room) {
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Datatype I = MPI_INT;
	MPI_Op op = MPI_SUM;
	int code = MPI_SUCCESS, blocks = 1;
	for (int i = 0; i < n; i++) {
		send_counts[i] = s;
		receive_counts[i] = r;
		starts[i] = i * MOST;
	}
	if (call == GATHER || call == ALLGATHER || call == ALLTOALL)
		blocks = n;
	*room = blocks * r;
	for (int i = 0; i < n * MOST; i++) {
		in[i] = 1;
		out[i] = GUARD;
	}
	switch (call) {
	case BCAST:
		*room = me == root ? s : r;
		code = FORM(Bcast, Ibcast, Bcast_init, out, *room, I, root);
		break;
	case GATHER:
		code = FORM(Gather, Igather, Gather_init, in, s, I, out, r, I, root);
		break;
	case SCATTER:
		code = FORM(Scatter, Iscatter, Scatter_init, in, s, I, out, r, I, root);
		break;
	case ALLGATHER:
		code = FORM(Allgather, Iallgather, Allgather_init, in, s, I, out, r, I);
		break;
	case ALLTOALL:
		code = FORM(Alltoall, Ialltoall, Alltoall_init, in, s, I, out, r, I);
		break;
	case GATHERV:
		code = FORM(Gatherv, Igatherv, Gatherv_init, in, s, I, out, receive_counts, starts, I, root);
		break;
	case SCATTERV:
		code = FORM(Scatterv, Iscatterv, Scatterv_init, in, send_counts, starts, I, out, r, I, root);
		break;
	case ALLGATHERV:
		code = FORM(Allgatherv, Iallgatherv, Allgatherv_init, in, s, I, out, receive_counts, starts, I);
		break;
	case ALLTOALLV:
		code = FORM(Alltoallv, Ialltoallv, Alltoallv_init, in, send_counts, starts, I, out, receive_counts,
			    starts, I);
		break;
	case REDUCE:
		code = FORM(Reduce, Ireduce, Reduce_init, in, out, r, I, op, root);
		break;
	case ALLREDUCE:
		code = FORM(Allreduce, Iallreduce, Allreduce_init, in, out, r, I, op);
		break;
	case SCAN:
		code = FORM(Scan, Iscan, Scan_init, in, out, r, I, op);
		break;
	case EXSCAN:
		code = FORM(Exscan, Iexscan, Exscan_init, in, out, r, I, op);
		break;
	case REDUCE_SCATTER_BLOCK:
		code = FORM(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, in, out, r, I, op);
		break;
	}
	if (form == PERSISTENT && code == MPI_SUCCESS)
		code = MPI_Start(&request);
	if (form != BLOCKING && code == MPI_SUCCESS)
		code = MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (form == PERSISTENT && request != MPI_REQUEST_NULL)
		MPI_Request_free(&request);
	return code;
}

/* The possible results of a call, as bits: MPI_SUCCESS, MPI_ERR_TRUNCATE, and MPI_ERR_COUNT (less data than
 * expected). */
enum { SUCCESS = 1, TRUNCATED = 2, SHORTER = 4 };

/* Returns the set of results that this rank's call may have. Rank y passes the lengths s[y] and r[y], which are equal
 * at all ranks except rank `odd`. */
static int allowed(int call, int root, int odd, const int *s, const int *r) {
	int longer = 0, different = 0;
	for (int y = 0; y < n; y++) {
		int comes = 1;
		switch (call) {
		case BCAST:
			comes = y == root && me != root;
			break;
		case SCATTER:
		case SCATTERV:
			comes = y == root;
			break;
		case GATHER:
		case GATHERV:
			comes = me == root;
			break;
		case REDUCE:
			comes = me == root;
			break;
		case SCAN:
			comes = y <= me;
			break;
		case EXSCAN:
			comes = y < me;
			break;
		}
		longer |= comes && s[y] > r[me];
		different |= comes && s[y] != r[me];
	}
	/* In a reduction each rank whose result is wrong must report an error. To detect this, gompirma compares the
	 * length of each rank with that of another rank. Ranks whose result is right may report an error or not. */
	if (call >= REDUCE) {
		int concerned = call == REDUCE ? me == root : call == SCAN || call == EXSCAN ? me > 0 && me >= odd : 1;
		return concerned ? TRUNCATED | SHORTER : SUCCESS | TRUNCATED | SHORTER;
	}
	if (longer)
		return TRUNCATED;
	return different ? SHORTER | SUCCESS : SUCCESS | TRUNCATED | SHORTER;
}

static void one(int call, int form, int odd, int all_lengths, int odd_sends, int odd_receives) {
	int s[RANKS], r[RANKS], room, root = (odd + (all_lengths & 1)) % n; /* root: `odd` or its right neighbour */
	for (int i = 0; i < n; i++)
		s[i] = r[i] = all_lengths;
	s[odd] = odd_sends;
	r[odd] = odd_receives;
	if (call >= REDUCE && (odd_sends != odd_receives || n == 1))
		return; /* a reduction has one length for both directions */
	int code = make(call, form, root, s[me], r[me], &room), class = check_class(code);
	int may = allowed(call, root, odd, s, r);
	int is = class == MPI_SUCCESS        ? SUCCESS
		 : class == MPI_ERR_TRUNCATE ? TRUNCATED
		 : class == MPI_ERR_COUNT    ? SHORTER
					     : 0;
	CHECK(may & is, "%s %s, root %d: %d elements, but rank %d sends %d and receives %d: class %d (%s)",
	      form_name[form], call_name[call], root, all_lengths, odd, odd_sends, odd_receives, class,
	      check_string(code));
	int v = call == GATHERV || call == ALLGATHERV || call == ALLTOALLV;
	for (int i = 0, bad = 0; i < n * MOST && !bad; i++) {
		bad = (v ? i % MOST >= r[me] : i >= room) && out[i] != GUARD;
		CHECK(!bad, "%s %s: element %d behind the buffer was written", form_name[form], call_name[call], i);
	}
	/* Later calls give the right data. */
	int mine = me + 1, sum = 0, last = me == n - 1 ? 7 : 0;
	CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == n * (n + 1) / 2, "after %s %s the sum is %d", form_name[form], call_name[call], sum);
	CHECK_OK(MPI_Bcast(&last, 1, MPI_INT, n - 1, MPI_COMM_WORLD));
	CHECK(last == 7, "after %s %s a broadcast gives %d", form_name[form], call_name[call], last);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size;
	me = check_rank;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	in = malloc(sizeof(int) * MOST * n);
	out = malloc(sizeof(int) * MOST * n);
	/* Pairs of the common length and the wrong length, on both sides of the thresholds between algorithms. */
	static const int lengths[][2] = {{4, 6},   {5, 3},     {4, 0},     {0, 3},         {300, 700},     {301, 4},
					 {4, 901}, {5, 20001}, {20000, 7}, {12001, 20000}, {40000, 38001}, {0, 20000}};
	for (int call = 0; call < CALLS; call++) {
		if (*check_arg != 0 && strcmp(check_arg, call_name[call]) != 0)
			continue;
		for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
			for (int form = 0; form < FORMS; form++) {
				int odd = (i + form) % n, a = lengths[i][0], b = lengths[i][1];
				one(call, form, odd, a, b, b);
				one(call, form, odd, a, a, b);
			}
	}
	free(in);
	free(out);
	return check_end();
}
