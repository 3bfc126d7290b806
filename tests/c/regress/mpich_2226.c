/* Reported (pmodels/mpich issue 2226): MPI_Get_accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap were not atomic
 * if one origin updated the target's memory directly while the target executed an operation that another origin had
 * sent in a message. Both origins fetched the same value.
 * Must hold: all ranks, including the target, increment and fetch one counter by any of the three calls. Each value is
 * fetched exactly once. MPI-5.0 12.3.4, 12.7.1
 * np: 2 3 5
 * args: fetch_and_op get_accumulate compare_and_swap mixed
 * ref: mpich (Open MPI 4.1.4 crashes in MPI_Compare_and_swap)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TICKETS = 400 };

static long draw(struct window *w, int way) {
	long one = 1, old = -1, guess = 0, next;
	switch (way) {
	case 0:
		CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, window_at(w, 0, 0), MPI_SUM, w->win));
		MPI_Win_flush(0, w->win);
		return old;
	case 1:
		CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG,
					    MPI_SUM, w->win));
		MPI_Win_flush(0, w->win);
		return old;
	default:
		for (;; guess = old) {
			next = guess + 1;
			CHECK_OK(MPI_Compare_and_swap(&next, &guess, &old, MPI_LONG, 0, window_at(w, 0, 0), w->win));
			MPI_Win_flush(0, w->win);
			if (old == guess)
				return old;
		}
	}
}

static void body(struct window *w) {
	static const char *const ways[] = {"fetch_and_op", "get_accumulate", "compare_and_swap"};
	int way = 0, all = TICKETS * w->n;
	long *mem = w->mem, *mine = malloc(TICKETS * sizeof *mine), *every = malloc((size_t)all * sizeof *every);
	while (way < 3 && strcmp(ways[way], check_arg) != 0)
		way++;
	*mem = 0;
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(w->comm);
	for (int i = 0; i < TICKETS; i++)
		mine[i] = draw(w, way < 3 ? way : (i + w->rank) % 3);
	MPI_Win_unlock_all(w->win);
	for (int i = 1; i < TICKETS; i++)
		CHECK(mine[i] > mine[i - 1], "%s: ticket %ld after %ld", w->name, mine[i], mine[i - 1]);
	MPI_Gather(mine, TICKETS, MPI_LONG, every, TICKETS, MPI_LONG, 0, w->comm);
	if (w->rank == 0) {
		char *seen = calloc((size_t)all, 1);
		for (int i = 0; i < all; i++) {
			CHECK(every[i] >= 0 && every[i] < all && !seen[every[i]],
			      "%s: rank %d drew ticket %ld of %d, again or out of range", w->name, i / TICKETS,
			      every[i], all);
			if (every[i] >= 0 && every[i] < all)
				seen[every[i]] = 1;
		}
		free(seen);
	}
	MPI_Barrier(w->comm);
	free(mine);
	free(every);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(long), sizeof(long), MPI_COMM_WORLD, body);
	return check_end();
}
