/* Proves: post, start, complete and wait work with groups that differ from epoch to epoch and from rank to rank. Covers
 *   a ring, a star in both directions, single pairs and empty groups. No other synchronization separates the epochs.
 *   Tests every window kind. MPI-5.0 12.5.2
 * np: 1 2 5
 * nodes: 2
 * ref: mpich (with more than 2 ranks it takes a post of another rank for the one it waits for)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 8 };

static MPI_Group all;

static MPI_Group group_of(const int *ranks, int n) {
	MPI_Group group;
	MPI_Group_incl(all, n, ranks, &group);
	return group;
}

static void ring(struct window *w, int time) {
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n, *mem = w->mem,
	    value = w->rank * 100 + time;
	MPI_Group from = group_of(&left, 1), to = group_of(&right, 1);
	mem[0] = -1;
	MPI_Win_post(from, 0, w->win);
	MPI_Win_start(to, 0, w->win);
	MPI_Put(&value, 1, MPI_INT, right, window_at(w, right, 0), 1, MPI_INT, w->win);
	MPI_Win_complete(w->win);
	MPI_Win_wait(w->win);
	CHECK(mem[0] == left * 100 + time, "%s window: ring %d: %d, not %d", w->name, time, mem[0], left * 100 + time);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
}

/* Tests a star. If `inward` is true, all other ranks write to the window of `centre`. Otherwise `centre` writes to the
 * windows of all other ranks. */
static void star(struct window *w, int centre, int inward, int time) {
	int *mem = w->mem, others[16], k = 0, value = 1000 + w->rank * 100 + time;
	for (int i = 0; i < w->n; i++)
		if (i != centre)
			others[k++] = i;
	MPI_Group rim = group_of(others, k), middle = group_of(&centre, 1);
	for (int i = 0; i < w->n; i++)
		mem[i] = -1;
	if ((w->rank == centre) == inward) {
		MPI_Win_post(inward ? rim : middle, 0, w->win);
		MPI_Win_wait(w->win);
		for (int i = 0; i < w->n; i++) {
			int written = inward ? i != centre : i == centre, want = written ? 1000 + i * 100 + time : -1;
			CHECK(mem[i] == want, "%s window: star around %d: [%d] is %d, not %d", w->name, centre, i,
			      mem[i], want);
		}
	} else {
		MPI_Win_start(inward ? middle : rim, 0, w->win);
		for (int i = 0; i < (inward ? 1 : k); i++)
			MPI_Put(&value, 1, MPI_INT, inward ? centre : others[i],
				window_at(w, inward ? centre : others[i], w->rank), 1, MPI_INT, w->win);
		MPI_Win_complete(w->win);
	}
	MPI_Group_free(&rim);
	MPI_Group_free(&middle);
}

static void empty(struct window *w) {
	MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win);
	MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win);
	MPI_Win_complete(w->win);
	MPI_Win_wait(w->win);
}

/* Exchanges values between ranks 2i and 2i+1. A rank without a partner does nothing. */
static void pairs(struct window *w, int time) {
	int other = w->rank ^ 1, *mem = w->mem, value = 5000 + w->rank * 100 + time;
	if (other >= w->n)
		return;
	MPI_Group group = group_of(&other, 1);
	mem[1] = -1;
	MPI_Win_post(group, 0, w->win);
	MPI_Win_start(group, 0, w->win);
	MPI_Put(&value, 1, MPI_INT, other, window_at(w, other, 1), 1, MPI_INT, w->win);
	MPI_Win_complete(w->win);
	MPI_Win_wait(w->win);
	CHECK(mem[1] == 5000 + other * 100 + time, "%s window: pair: %d, not %d", w->name, mem[1],
	      5000 + other * 100 + time);
	MPI_Group_free(&group);
}

static void body(struct window *w) {
	MPI_Win_get_group(w->win, &all);
	for (int time = 0; time < TIMES; time++) {
		ring(w, time);
		if (w->n > 1)
			star(w, time % w->n, time / 2 % 2, time);
		pairs(w, time);
		empty(w);
		if (w->n > 1)
			star(w, (time + 1) % w->n, (time / 2 + 1) % 2, time);
	}
	MPI_Group_free(&all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
