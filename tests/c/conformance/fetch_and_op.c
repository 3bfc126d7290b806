/* Proves: if all ranks call MPI_Fetch_and_op on one counter of every rank, each value is returned exactly once and in
 *   rising order at each rank. MPI_NO_OP reads, MPI_REPLACE swaps. Tests every synchronization on every window kind.
 *   MPI-5.0 12.3.4, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { TIMES = 10 };

static int sync_mode;

static void body(struct window *w) {
	int n = w->n;
	int64_t *mem = w->mem;
	int64_t one = 1, *tickets = malloc(sizeof(int64_t) * n * TIMES), before, swapped[2] = {-1, -1};
	int *seen = calloc(n * n * TIMES, sizeof(int)), *all = calloc(n * n * TIMES, sizeof(int));
	mem[0] = 0;
	mem[1] = 100 + w->rank;
	epoch_open(sync_mode, w);
	for (int k = 0; k < n; k++) {
		int t = (w->rank + k) % n;
		epoch_target(sync_mode, w, t);
		for (int i = 0; i < TIMES; i++)
			MPI_Fetch_and_op(&one, tickets + t * TIMES + i, MPI_INT64_T, t, 0, MPI_SUM, w->win);
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
	CHECK(mem[0] == n * TIMES, "%s window: counter is %d, not %d", w->name, (int)mem[0], n * TIMES);
	CHECK(mem[1] == 100 + w->rank, "%s window: the counter's neighbour was changed", w->name);
	for (int i = 0; i < n * TIMES; i++) {
		int64_t ticket = tickets[i];
		CHECK(ticket >= 0 && ticket < n * TIMES, "%s window: ticket %lld", w->name, (long long)ticket);
		if (i % TIMES > 0)
			CHECK(ticket > tickets[i - 1], "%s window: ticket %d behind %d", w->name, (int)ticket,
			      (int)tickets[i - 1]);
		if (ticket >= 0 && ticket < n * TIMES)
			seen[i / TIMES * n * TIMES + ticket]++;
	}
	MPI_Allreduce(seen, all, n * n * TIMES, MPI_INT, MPI_SUM, w->comm);
	for (int i = 0; i < n * n * TIMES; i++)
		CHECK(all[i] == 1, "%s window: ticket %d of rank %d was given %d times", w->name, i % (n * TIMES),
		      i / (n * TIMES), all[i]);

	int t = (w->rank + 1) % n;
	int64_t new = 200 + w->rank;
	epoch_open(sync_mode, w);
	epoch_target(sync_mode, w, t);
	MPI_Fetch_and_op(NULL, &before, MPI_INT64_T, t, 1, MPI_NO_OP, w->win);
	MPI_Fetch_and_op(&new, swapped, MPI_INT64_T, t, 1, MPI_REPLACE, w->win);
	MPI_Fetch_and_op(NULL, swapped + 1, MPI_INT64_T, t, 1, MPI_NO_OP, w->win);
	epoch_target_done(sync_mode, w, t);
	epoch_close(sync_mode, w);
	CHECK(before == 100 + t, "%s window: NO_OP gave %d, not %d", w->name, (int)before, 100 + t);
	CHECK(swapped[0] == 100 + t, "%s window: REPLACE gave %d, not %d", w->name, (int)swapped[0], 100 + t);
	CHECK(swapped[1] == new, "%s window: NO_OP behind REPLACE gave %d, not %d", w->name, (int)swapped[1], (int)new);
	CHECK(mem[1] == 200 + (w->rank + n - 1) % n, "%s window: REPLACE left %d", w->name, (int)mem[1]);
	free(tickets);
	free(seen);
	free(all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int64_t) * 2, sizeof(int64_t), MPI_COMM_WORLD, body);
	return check_end();
}
