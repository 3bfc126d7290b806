/* Proves: while all ranks call MPI_Fetch_and_op on one counter as fast as they can, each value is returned exactly
 *   once. The values that one rank fetches rise, and no increment is lost. Each call uses its own lock, or all calls
 *   run under lock_all. Increments by a loop of MPI_Compare_and_swap lose no update either. MPI-5.0 12.3.4, 12.7.1
 * np: 1 2 4 8
 * args: lock lock_shared flush cas
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../epochs.h"

enum { TIMES = 150 };

static int how;

static void fetch(struct window *w, int64_t *old) {
	int64_t one = 1, seen, new;
	if (strcmp(check_arg, "cas") != 0) {
		epoch_target(how, w, 0);
		MPI_Fetch_and_op(&one, old, MPI_INT64_T, 0, window_at(w, 0, 0), MPI_SUM, w->win);
		epoch_target_done(how, w, 0);
		return;
	}
	for (*old = 0;; *old = seen) {
		new = *old + 1;
		MPI_Compare_and_swap(&new, old, &seen, MPI_INT64_T, 0, window_at(w, 0, 0), w->win);
		MPI_Win_flush(0, w->win);
		if (seen == *old)
			return;
	}
}

static void body(struct window *w) {
	int total = TIMES * w->n;
	char *seen = calloc(total, 1), *all = calloc(total, 1);
	int64_t last = -1, ticket;
	*(int64_t *)w->mem = 0;
	epoch_open(how, w);
	for (int i = 0; i < TIMES; i++) {
		fetch(w, &ticket);
		CHECK(ticket > last && ticket < total, "%s window: ticket %lld behind %lld of %d", w->name,
		      (long long)ticket, (long long)last, total);
		if (ticket >= 0 && ticket < total)
			seen[ticket]++;
		last = ticket;
	}
	epoch_close(how, w);
	MPI_Allreduce(seen, all, total, MPI_SIGNED_CHAR, MPI_SUM, w->comm);
	for (int i = 0; i < total; i++)
		CHECK(all[i] == 1, "%s window: ticket %d was given %d times", w->name, i, all[i]);
	if (w->rank == 0)
		CHECK(*(int64_t *)w->mem == total, "%s window: the counter ends at %d, not %d", w->name,
		      (int)*(int64_t *)w->mem, total);
	free(seen);
	free(all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	how = strcmp(check_arg, "cas") == 0 ? SYNC_FLUSH : epoch_named(check_arg);
	windows_each(64, 8, MPI_COMM_WORLD, body);
	return check_end();
}
