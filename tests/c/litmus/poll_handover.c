/* A token circulates through all ranks; there may be more ranks than cores. Each rank polls for the token. By variant,
 * a poll is Fetch_and_op with NO_OP, Compare_and_swap, Get and Win_flush, Get between Win_lock and Win_unlock, Iprobe,
 * Test, or Win_test.
 * Forbidden: a rank that the token never reaches; a wrong token. The window comes from MPI_Win_allocate.
 * MPI-5.0 12.5, 12.7.3
 * np: 2 8
 * args: fetch swap get lock iprobe test win_test
 * timeout: 60
 */
#include "../check.h"

static MPI_Win win;
static MPI_Group from, to;

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

/* Polls until element 0 of this rank's window equals `turn`. */
static void look(int turn) {
	int me = check_rank, seen = -1, taken = turn;
	while (seen != turn) {
		if (is("fetch")) {
			MPI_Fetch_and_op(NULL, &seen, MPI_INT, me, 0, MPI_NO_OP, win);
		} else if (is("swap")) {
			MPI_Compare_and_swap(&taken, &turn, &seen, MPI_INT, me, 0, win);
		} else {
			if (is("lock"))
				MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
			MPI_Get(&seen, 1, MPI_INT, me, 0, 1, MPI_INT, win);
			if (is("lock"))
				MPI_Win_unlock(me, win);
		}
		if (!is("lock"))
			MPI_Win_flush(me, win);
		CHECK(seen == turn || seen == turn - 1, "turn %d: the token is %d", turn, seen);
	}
}

static void pass(int turn) {
	int right = (check_rank + 1) % check_size;
	if (is("lock"))
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Accumulate(&turn, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, win);
	if (is("lock"))
		MPI_Win_unlock(right, win);
	else
		MPI_Win_flush(right, win);
}

static void message(int turn, int first) {
	int n = check_size, left = (check_rank + n - 1) % n, right = (check_rank + 1) % n, got = -1, done = 0;
	MPI_Request r;
	if (first)
		MPI_Send(&turn, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
	if (is("iprobe"))
		while (!done)
			MPI_Iprobe(left, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
	MPI_Irecv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r);
	for (done = 0; !done;)
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
	CHECK(got == turn, "turn %d: the message says %d", turn, got);
	if (!first)
		MPI_Send(&turn, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
}

static void epoch(int turn, int first, int *mem) {
	int right = (check_rank + 1) % check_size;
	MPI_Win_post(from, 0, win);
	for (int step = 0; step < 2; step++) {
		if (step == !first) {
			MPI_Win_start(to, 0, win);
			MPI_Put(&turn, 1, MPI_INT, right, 0, 1, MPI_INT, win);
			MPI_Win_complete(win);
		} else {
			for (int done = 0; !done;)
				MPI_Win_test(win, &done);
			CHECK(*mem == turn, "turn %d: the epoch brought %d", turn, *mem);
		}
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, left = (me + n - 1) % n, right = (me + 1) % n, *mem, times = 200;
	int window = !is("iprobe") && !is("test") && !is("win_test"), passive = window && !is("lock");
	MPI_Group all;
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_get_group(win, &all);
	MPI_Group_incl(all, 1, &left, &from);
	MPI_Group_incl(all, 1, &right, &to);
	*mem = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (passive)
		MPI_Win_lock_all(0, win);
	for (int turn = 1; turn <= times; turn++) {
		if (!window) {
			if (is("win_test"))
				epoch(turn, me == 0, mem);
			else
				message(turn, me == 0);
			continue;
		}
		if (me == 0)
			pass(turn);
		look(turn);
		if (me != 0)
			pass(turn);
	}
	if (passive)
		MPI_Win_unlock_all(win);
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Win_free(&win);
	return check_end();
}
