/* Proves: on windows of sub-communicators, target ranks are ranks in the window's group. Even and odd ranks use their
 *   own windows at the same time, with reversed ranks, in each synchronization. Communicators with one rank work as
 *   well. Tests every window kind. MPI-5.0 12.2.1
 * np: 1 2 5
 * args: fence pscw lock flush
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

static int sync_mode;

static void body(struct window *w) {
	int *mem = w->mem, value, world[16], one = 1;
	MPI_Group group, all;
	int ranks[16];
	/* Translates the ranks in the window to ranks in MPI_COMM_WORLD. */
	MPI_Win_get_group(w->win, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	for (int i = 0; i < w->n; i++)
		ranks[i] = i;
	MPI_Group_translate_ranks(group, w->n, ranks, all, world);
	CHECK(world[w->rank] == check_rank, "rank %d is %d of the world, not %d", w->rank, world[w->rank], check_rank);
	for (int i = 0; i <= w->n; i++)
		mem[i] = i < w->n ? -1 : 0;
	epoch_open(sync_mode, w);
	for (int t = 0; t < w->n; t++) {
		epoch_target(sync_mode, w, t);
		value = check_rank * 100 + world[t];
		MPI_Put(&value, 1, MPI_INT, t, w->rank, 1, MPI_INT, w->win);
		MPI_Accumulate(&one, 1, MPI_INT, t, w->n, 1, MPI_INT, MPI_SUM, w->win);
		epoch_target_done(sync_mode, w, t);
		if (!epoch_reusable(sync_mode)) { /* `value` may change only after the epoch has ended */
			epoch_close(sync_mode, w);
			epoch_open(sync_mode, w);
		}
	}
	epoch_close(sync_mode, w);
	for (int i = 0; i < w->n; i++)
		CHECK(mem[i] == world[i] * 100 + check_rank, "%s window: from rank %d: %d, not %d", w->name, i, mem[i],
		      world[i] * 100 + check_rank);
	CHECK(mem[w->n] == w->n, "%s window: %d accumulates of %d ranks", w->name, mem[w->n], w->n);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	MPI_Comm half, alone;
	MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
	MPI_Comm_split(MPI_COMM_WORLD, check_rank, 0, &alone);
	windows_each(128, sizeof(int), half, body);
	windows_each(128, sizeof(int), alone, body);
	windows_each(128, sizeof(int), MPI_COMM_SELF, body);
	MPI_Comm_free(&half);
	MPI_Comm_free(&alone);
	return check_end();
}
