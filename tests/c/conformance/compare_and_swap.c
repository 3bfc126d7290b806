/* Proves: if all ranks call MPI_Compare_and_swap on one element, exactly one rank finds the compare value and replaces
 *   it. The other ranks fetch the value that this rank stored. A compare value that differs changes nothing. Tests
 *   every synchronization on every window kind. MPI-5.0 12.3.4, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { SLOTS = 16 };

static int sync_mode;

static void body(struct window *w) {
	int n = w->n;
	int *mem = w->mem;
	int mine = w->rank + 1, zero = 0, *found = malloc(sizeof(int) * n * SLOTS),
	    *won = calloc(n * SLOTS, sizeof(int));
	for (int i = 0; i < SLOTS; i++)
		mem[i] = 0;
	epoch_open(sync_mode, w);
	for (int k = 0; k < n; k++) {
		int t = (w->rank + k) % n;
		epoch_target(sync_mode, w, t);
		for (int i = 0; i < SLOTS; i++)
			MPI_Compare_and_swap(&mine, &zero, found + t * SLOTS + i, MPI_INT, t, i, w->win);
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
	for (int i = 0; i < SLOTS; i++)
		CHECK(mem[i] >= 1 && mem[i] <= n, "%s window: slot %d holds %d", w->name, i, mem[i]);
	int *slots = malloc(sizeof(int) * n * SLOTS), *winners = malloc(sizeof(int) * n * SLOTS);
	MPI_Allgather(mem, SLOTS, MPI_INT, slots, SLOTS, MPI_INT, w->comm);
	for (int i = 0; i < n * SLOTS; i++) {
		won[i] = found[i] == 0;
		CHECK(found[i] == 0 ? slots[i] == mine : found[i] == slots[i],
		      "%s window: rank %d's slot %d holds %d, but %d was fetched", w->name, i / SLOTS, i % SLOTS,
		      slots[i], found[i]);
	}
	MPI_Allreduce(won, winners, n * SLOTS, MPI_INT, MPI_SUM, w->comm);
	for (int i = 0; i < n * SLOTS; i++)
		CHECK(winners[i] == 1, "%s window: %d ranks won rank %d's slot %d", w->name, winners[i], i / SLOTS,
		      i % SLOTS);

	int wrong = -77, fetched = -1, t = (w->rank + 1) % n; /* -77: a compare value that no element has */
	epoch_open(sync_mode, w);
	epoch_target(sync_mode, w, t);
	MPI_Compare_and_swap(&wrong, &wrong, &fetched, MPI_INT, t, SLOTS - 1, w->win);
	epoch_target_done(sync_mode, w, t);
	epoch_close(sync_mode, w);
	CHECK(fetched == slots[t * SLOTS + SLOTS - 1], "%s window: fetched %d", w->name, fetched);
	CHECK(mem[SLOTS - 1] == slots[w->rank * SLOTS + SLOTS - 1], "%s window: a failed swap wrote %d", w->name,
	      mem[SLOTS - 1]);
	free(found);
	free(won);
	free(slots);
	free(winners);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * SLOTS, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
