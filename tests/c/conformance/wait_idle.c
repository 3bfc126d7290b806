/* Proves: a rank that waits in MPI for a sleeping rank uses almost no processor time. Covers receive, probe, wait,
 *   barrier, fence, post-start-complete-wait and lock, also after a series of operations on the waiting rank's memory.
 *   The waiting rank measures its processor time with getrusage. The standard does not require this; gompirma promises
 *   it
 * np: 2
 * nodes: 2
 * args: recv probe wait barrier fence start wait_epoch lock served
 * ref: none (MPICH and Open MPI wait by polling)
 * timeout: 30
 */
#include "../check.h"
#include <sys/resource.h>
#include <time.h>

enum { SLEEP_MS = 500, MOST_MS = 150 };

static double cpu_ms(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return 1e3 * (u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-3 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void sleep_ms(int ms) {
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&t, NULL);
}

/* Runs a series of operations on ordinary memory of rank 0, which waits in MPI. */
static void operate(MPI_Win win) {
	long one = 1, result;
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	for (int i = 0; i < 50; i++) {
		sleep_ms(i % 2);
		MPI_Fetch_and_op(&one, &result, MPI_LONG, 0, 0, MPI_SUM, win);
	}
	MPI_Win_unlock(0, win);
}

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int me = check_rank, n = check_size, value = 0, late = n - 1, *mem;
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Win win, ordinary;
	long memory[8] = {0};
	MPI_Group all, from, to;
	MPI_Request r;
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, W, &mem, &win);
	MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, W, &ordinary);
	MPI_Win_get_group(win, &all);
	MPI_Group_incl(all, 1, &late, &to);
	MPI_Group_excl(all, 1, &late, &from);
	if (me == late && is("lock"))
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Barrier(W);
	double before = cpu_ms();
	if (me == late && is("served"))
		operate(ordinary);
	if (me == late)
		sleep_ms(SLEEP_MS);
	if (is("recv") || is("probe") || is("wait")) {
		if (me == late) {
			for (int i = 0; i < late; i++)
				MPI_Send(&value, 1, MPI_INT, i, 0, W);
		} else {
			if (is("probe"))
				MPI_Probe(late, 0, W, MPI_STATUS_IGNORE);
			MPI_Irecv(&value, 1, MPI_INT, late, 0, W, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
	} else if (is("barrier") || is("served")) {
		MPI_Barrier(W);
	} else if (is("fence")) {
		MPI_Win_fence(0, win);
	} else if (is("start")) { /* the other rank waits in MPI_Win_start */
		if (me == late) {
			MPI_Win_post(from, 0, win);
			MPI_Win_wait(win);
		} else {
			MPI_Win_start(to, 0, win);
			MPI_Put(&value, 1, MPI_INT, late, me, 1, MPI_INT, win);
			MPI_Win_complete(win);
		}
	} else if (is("wait_epoch")) { /* the other rank waits in MPI_Win_wait */
		if (me == late) {
			MPI_Win_start(from, 0, win);
			MPI_Win_complete(win);
		} else {
			MPI_Win_post(to, 0, win);
			MPI_Win_wait(win);
		}
	} else if (is("lock")) { /* the other rank waits in MPI_Win_lock */
		if (me == late) {
			MPI_Win_unlock(0, win);
		} else {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
			MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_unlock(0, win);
		}
	}
	double used = cpu_ms() - before;
	CHECK(used < MOST_MS, "%s: waited %d ms and used %.0f ms of a processor", check_arg, SLEEP_MS, used);
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Win_free(&win);
	MPI_Win_free(&ordinary);
	return check_end();
}
