/* Proves: epochs can overlap where the standard allows it: an exposure epoch with an access epoch for another group; an
 *   exposure epoch with locks of other ranks' memory. A lock_all is allowed while no rank is exposed to the origin.
 *   Locks and MPI_Win_start are allowed after a fence that no operation followed. Two windows may be in epochs of
 *   different kinds. Tests every window kind. MPI-5.0 12.5
 * np: 1 3 5
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 5 };

static MPI_Group all;

static MPI_Group one(int rank) {
	MPI_Group group;
	MPI_Group_incl(all, 1, &rank, &group);
	return group;
}

static void put(struct window *w, int target, int place, int value) {
	MPI_Put(&value, 1, MPI_INT, target, window_at(w, target, place), 1, MPI_INT, w->win);
}

/* Overlaps exposure and access: each rank is exposed to its left neighbour and accesses its right neighbour. Rank 0's
 * access epoch lies within its exposure epoch. The last rank's access epoch encloses its exposure epoch. */
static void chain(struct window *w, int time) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem;
	MPI_Group to = one(right), from = one(left);
	if (w->rank == n - 1 && n > 1) {
		MPI_Win_start(to, 0, w->win);
		put(w, right, 0, w->rank + time);
		MPI_Win_post(from, 0, w->win);
		MPI_Win_complete(w->win);
		MPI_Win_wait(w->win);
	} else {
		MPI_Win_post(from, 0, w->win);
		MPI_Win_start(to, 0, w->win);
		put(w, right, 0, w->rank + time);
		MPI_Win_complete(w->win);
		MPI_Win_wait(w->win);
	}
	CHECK(mem[0] == left + time, "%s window: chain: %d, not %d", w->name, mem[0], left + time);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
	MPI_Barrier(w->comm);
}

/* Overlaps exposure and locks: even ranks are exposed to the odd ranks after them. Meanwhile each even rank locks the
 * last rank, which is in no other epoch. */
static void exposed_and_locking(struct window *w, int time) {
	int last = w->n - 1, *mem = w->mem, got = 0, add = 1;
	if (w->n < 3 || w->n % 2 == 0)
		return;
	if (w->rank == last) {
		MPI_Barrier(w->comm);
	} else if (w->rank % 2 == 0) {
		MPI_Group from = one(w->rank + 1);
		MPI_Win_post(from, 0, w->win);
		MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win);
		MPI_Accumulate(&add, 1, MPI_INT, last, window_at(w, last, 1), 1, MPI_INT, MPI_SUM, w->win);
		MPI_Win_flush(last, w->win);
		MPI_Get(&got, 1, MPI_INT, last, window_at(w, last, 1), 1, MPI_INT, w->win);
		MPI_Win_unlock(last, w->win);
		CHECK(got > 0, "%s window: %d behind my addition", w->name, got);
		MPI_Win_wait(w->win);
		CHECK(mem[2] == w->rank + 1 + time, "%s window: exposed: %d, not %d", w->name, mem[2],
		      w->rank + 1 + time);
		MPI_Group_free(&from);
		MPI_Barrier(w->comm);
	} else {
		MPI_Group to = one(w->rank - 1);
		MPI_Win_start(to, 0, w->win);
		put(w, w->rank - 1, 2, w->rank + time);
		MPI_Win_complete(w->win);
		MPI_Group_free(&to);
		MPI_Barrier(w->comm);
	}
	if (w->rank == last) {
		MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win);
		CHECK(mem[1] == (time + 1) * (w->n / 2), "%s window: %d additions, not %d", w->name, mem[1],
		      (time + 1) * (w->n / 2));
		MPI_Win_unlock(last, w->win);
	}
	MPI_Barrier(w->comm);
}

/* Begins other epochs after a fence that no operation follows, since such a fence opens no epoch. The next call may be
 * a lock, a lock_all, or post and start. A fence may follow that epoch. */
static void behind_fence(struct window *w, int time) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem;
	MPI_Win_fence(0, w->win);
	put(w, right, 3, 10 * w->rank + time);
	MPI_Win_fence(0, w->win);
	CHECK(mem[3] == 10 * left + time, "%s window: the fence brought %d", w->name, mem[3]);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win);
	put(w, right, 3, 20 * w->rank + time);
	MPI_Win_unlock(right, w->win);
	MPI_Barrier(w->comm);
	MPI_Win_fence(0, w->win);
	CHECK(mem[3] == 20 * left + time, "%s window: the lock behind a fence brought %d", w->name, mem[3]);
	MPI_Group to = one(right), from = one(left);
	MPI_Barrier(w->comm);
	MPI_Win_post(from, 0, w->win);
	MPI_Win_start(to, 0, w->win);
	put(w, right, 3, 30 * w->rank + time);
	MPI_Win_complete(w->win);
	MPI_Win_wait(w->win);
	CHECK(mem[3] == 30 * left + time, "%s window: the epoch behind a fence brought %d", w->name, mem[3]);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	put(w, right, 3, 40 * w->rank + time);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	CHECK(mem[3] == 40 * left + time, "%s window: lock_all behind a fence brought %d", w->name, mem[3]);
	MPI_Barrier(w->comm);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

/* Locks this window while a fence epoch is open on another window. */
static void two_windows(struct window *w, int time) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem, fenced[4] = {0},
	    value = 7 * w->rank + time;
	MPI_Win second;
	MPI_Win_create(fenced, sizeof fenced, 4, MPI_INFO_NULL, w->comm, &second);
	MPI_Win_fence(0, second);
	MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, second);
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
	put(w, right, 4, value + 1);
	MPI_Win_unlock(right, w->win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, second);
	CHECK(fenced[1] == 7 * left + time, "%s window: fenced window: %d", w->name, fenced[1]);
	MPI_Barrier(w->comm);
	CHECK(mem[4] == 7 * left + time + 1, "%s window: locked window: %d", w->name, mem[4]);
	MPI_Win_free(&second);
}

static void body(struct window *w) {
	memset(w->mem, 0, w->size);
	MPI_Win_get_group(w->win, &all);
	MPI_Barrier(w->comm);
	for (int time = 0; time < TIMES; time++) {
		chain(w, time);
		exposed_and_locking(w, time);
		behind_fence(w, time);
		two_windows(w, time);
	}
	MPI_Group_free(&all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
