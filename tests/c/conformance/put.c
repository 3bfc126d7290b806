/* Proves: MPI_Put of 0, 1, 7 and 1000 elements from every rank to every rank (itself included) arrives whole and
 *   nowhere else. The origin buffer may be overwritten as soon as the standard allows. Tests every synchronization on
 *   every window kind. MPI-5.0 12.3.1, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { SLOT = 1008, ROUNDS = 4 };

static int sync_mode;

static int value(int round, int origin, int target, int i) { return ((round * 8 + origin) * 8 + target) * 2048 + i; }

static void body(struct window *w) {
	static const int counts[ROUNDS] = {1000, 0, 1, 7};
	int *mem = w->mem;
	int *from = malloc(sizeof(int) * SLOT * w->n);
	for (int round = 0; round < ROUNDS; round++) {
		int count = counts[round];
		for (int i = 0; i < SLOT * w->n; i++)
			mem[i] = -1;
		epoch_open(sync_mode, w);
		for (int k = 0; k < w->n; k++) {
			int target = (w->rank + k) % w->n;
			int *mine = epoch_reusable(sync_mode) ? from : from + SLOT * target;
			for (int i = 0; i < count; i++)
				mine[i] = value(round, w->rank, target, i);
			epoch_target(sync_mode, w, target);
			MPI_Put(mine, count, MPI_INT, target, SLOT * w->rank + 3, count, MPI_INT, w->win);
			epoch_target_done(sync_mode, w, target);
		}
		epoch_close(sync_mode, w);
		for (int origin = 0; origin < w->n; origin++)
			for (int i = 0; i < SLOT; i++) {
				int want = i < 3 || i >= 3 + count ? -1 : value(round, origin, w->rank, i - 3);
				CHECK(mem[SLOT * origin + i] == want,
				      "%s window, %d elements from %d: element %d is %d, not %d", w->name, count,
				      origin, i - 3, mem[SLOT * origin + i], want);
			}
	}
	free(from);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * SLOT * check_size, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
