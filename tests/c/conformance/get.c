/* Proves: MPI_Get of 0, 1, 7 and 1000 elements by every rank from every rank (itself included) returns what the target
 *   stored before the epoch. It writes nothing outside of the origin buffer. Tests every synchronization on every
 *   window kind. MPI-5.0 12.3.2, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { SLOT = 1008, ROUNDS = 4 };

static int sync_mode;

static int value(int round, int target, int i) { return (round * 8 + target) * 2048 + i; }

static void check_slot(struct window *w, const int *slot, int round, int count, int target) {
	for (int i = 0; i < SLOT; i++) {
		int want = i < 5 || i >= 5 + count ? -1 : value(round, target, i - 5 + w->rank);
		CHECK(slot[i] == want, "%s window, %d elements of %d: element %d is %d, not %d", w->name, count, target,
		      i - 5, slot[i], want);
	}
}

static void body(struct window *w) {
	static const int counts[ROUNDS] = {1000, 0, 1, 7};
	int *mem = w->mem;
	int *into = malloc(sizeof(int) * SLOT * w->n);
	for (int round = 0; round < ROUNDS; round++) {
		int count = counts[round];
		for (int i = 0; i < SLOT; i++)
			mem[i] = value(round, w->rank, i);
		for (int i = 0; i < SLOT * w->n; i++)
			into[i] = -1;
		epoch_open(sync_mode, w);
		for (int k = 0; k < w->n; k++) {
			int target = (w->rank + k) % w->n;
			epoch_target(sync_mode, w, target);
			MPI_Get(into + SLOT * target + 5, count, MPI_INT, target, w->rank, count, MPI_INT, w->win);
			epoch_target_done(sync_mode, w, target);
			if (epoch_reusable(sync_mode))
				check_slot(w, into + SLOT * target, round, count, target);
		}
		epoch_close(sync_mode, w);
		for (int target = 0; target < w->n; target++)
			check_slot(w, into + SLOT * target, round, count, target);
	}
	free(into);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * SLOT, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
