/* Proves: locks of windows stay usable if ranks are killed at random times while they acquire, hold or release them.
 *   This concerns the locks of MPI_Win_lock and those of accumulates. Locks of live ranks exclude each other.
 * np: 4 8
 * args: exclusive shared mixed all accumulate
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"
#include "../kills.h"

#include <mpi-ext.h>

enum {
	KILLS_US = 200000, /* all victims are killed within this time */
	END_US = 300000,   /* time after which a rank ends */
	LENGTH = 2000
};

static MPI_Win win;
static int *memory;
static uint64_t state;

static uint64_t now_us(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static unsigned draw(unsigned n) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Checks the code that a call has returned. Returns true if it is MPI_SUCCESS. */
static int good(int rc, const char *call) {
	CHECK(rc == MPI_SUCCESS || check_class(rc) == MPIX_ERR_PROC_FAILED, "%s: %s", call, check_string(rc));
	return rc == MPI_SUCCESS;
}

/* Writes the memory of the target and reads it again, under an exclusive lock; or reads it twice. */
static void access_target(int target, int exclusive) {
	int first = check_rank + 1, second = -1;
	int rc = exclusive ? MPI_Put(&first, 1, MPI_INT, target, 0, 1, MPI_INT, win)
			   : MPI_Get(&first, 1, MPI_INT, target, 0, 1, MPI_INT, win);
	if (good(rc, "put or get") && good(MPI_Win_flush(target, win), "first flush") &&
	    good(MPI_Get(&second, 1, MPI_INT, target, 0, 1, MPI_INT, win), "MPI_Get") &&
	    good(MPI_Win_flush(target, win), "second flush"))
		CHECK(first == second, "%s lock of %d: %d, then %d", exclusive ? "exclusive" : "shared", target, first,
		      second);
}

static void lock(int target, int exclusive) {
	if (!good(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win), "MPI_Win_lock"))
		return;
	if (draw(4) == 0)
		access_target(target, exclusive);
	good(MPI_Win_unlock(target, win), "MPI_Win_unlock");
}

static void accumulate(int target) {
	static int ones[LENGTH];
	if (good(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win), "MPI_Win_lock")) {
		int count = draw(2) ? LENGTH : 1;
		good(MPI_Accumulate(ones, count, MPI_INT, target, 0, count, MPI_INT, MPI_SUM, win), "MPI_Accumulate");
		good(MPI_Win_unlock(target, win), "MPI_Win_unlock");
	}
}

static void work(int target) {
	if (strcmp(check_arg, "exclusive") == 0)
		lock(target, 1);
	else if (strcmp(check_arg, "shared") == 0)
		lock(target, draw(10) == 0);
	else if (strcmp(check_arg, "mixed") == 0)
		lock(target, draw(2) == 0);
	else if (strcmp(check_arg, "accumulate") == 0)
		accumulate(target);
	else if (draw(2) == 0)
		lock(target, 1);
	else if (good(MPI_Win_lock_all(0, win), "MPI_Win_lock_all"))
		good(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK_OK(MPI_Win_allocate(LENGTH * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	uint64_t start = now_us();
	state = start * (uint64_t)(check_rank + 1);
	CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
	/* A rank leaves this barrier after all ranks have left the first one. Then it may be killed. */
	good(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
	/* rank 0 lives, so it is the target of many locks */
	if (check_rank != 0 && check_rank % 4 != 3)
		kill_after(20000 + draw(KILLS_US));
	while (now_us() - start < END_US)
		work((int)(draw(3) == 0 ? draw((unsigned)check_size) : 0));
	kill_cancel();
	MPI_Comm survivors;
	int n, sum = 0;
	CHECK_OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors));
	CHECK_OK(MPI_Comm_size(survivors, &n));
	CHECK_OK(MPI_Allreduce(&check_errors, &sum, 1, MPI_INT, MPI_SUM, survivors));
	if (check_rank == 0 && sum == 0)
		printf("PASS\n");
	MPI_Win_free(&win);
	MPI_Comm_free(&survivors);
	MPI_Finalize();
	return sum != 0;
}
