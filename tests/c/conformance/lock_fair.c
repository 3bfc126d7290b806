/* Proves: no starvation: while all other ranks take shared locks of one target again and again, so that one is always
 * held, a
 *   rank that asks for an exclusive lock gets it after a bounded number of theirs; and a shared one among exclusive
 * ones. MPI-5.0 12.5.3; fairness is more than the standard asks for
 * np: 3 4
 * args: writer reader
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

/* MOST: locks taken by others before this counts as starvation. Where ranks outnumber cores the one that asks may not
 * even run for some milliseconds, in which a fast MPI takes 100,000 locks. */
enum { MOST = 5000000, TIMES = 3 };

static void body(struct window *w) {
	int writer = strcmp(check_arg, "writer") == 0, one = 1, seen = 0, rounds;
	int alone = writer ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
	    crowd = writer ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	*(int *)w->mem = 0;
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	for (int time = 1; time <= TIMES; time++) {
		if (w->rank == 0) {
			MPI_Win_lock(alone, 0, 0, w->win);
			MPI_Accumulate(&one, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, MPI_SUM, w->win);
			MPI_Win_unlock(0, w->win);
		} else {
			for (rounds = 0; seen < time && rounds < MOST; rounds++) {
				MPI_Win_lock(crowd, 0, 0, w->win);
				MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, window_at(w, 0, 0), MPI_NO_OP, w->win);
				MPI_Win_unlock(0, w->win);
			}
			CHECK(seen >= time, "%s window: rank 0 still waits for its lock after %d locks of mine",
			      w->name, rounds);
		}
	}
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
