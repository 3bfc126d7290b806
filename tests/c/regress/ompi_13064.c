/* Reported (open-mpi/ompi issue 13064): the program hung when all ranks issued many small accumulates (20 bytes) and
 * compare-and-swaps without waiting for each one.
 * Must hold: all ranks insert keys into a distributed table. They claim entries by MPI_Compare_and_swap and add to the
 * entries by MPI_Accumulate. At the end the table has every key once, with the sum of all values added for that key.
 * MPI-5.0 12.3.4
 * np: 2 4 8
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { PLACES = 128, KEYS = 200, ROUNDS = 4, FIELDS = 5, PLACE = FIELDS + 1 };

static void body(struct window *w) {
	int32_t *mem = w->mem, empty = 0, found, add[FIELDS];
	int all = PLACES * w->n, keys = KEYS < all / 2 ? KEYS : all / 2;
	memset(mem, 0, PLACES * PLACE * sizeof *mem);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int f = 0; f < FIELDS; f++)
		add[f] = f + 1;
	for (int i = 0; i < ROUNDS * keys; i++) {
		int32_t key = 1 + (i * 7 + w->rank) % keys;
		for (int at = (int)((uint32_t)key * 2654435761u % (uint32_t)all);; at = (at + 1) % all) {
			int t = at / PLACES, place = at % PLACES * PLACE;
			CHECK_OK(MPI_Compare_and_swap(&key, &empty, &found, MPI_INT32_T, t, window_at(w, t, place),
						      w->win));
			MPI_Win_flush_local(t, w->win);
			if (found != empty && found != key)
				continue;
			CHECK_OK(MPI_Accumulate(add, FIELDS, MPI_INT32_T, t, window_at(w, t, place + 1), FIELDS,
						MPI_INT32_T, MPI_SUM, w->win));
			break;
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	int sums[2] = {0, 0}, here[2] = {0, 0}; /* number and sum of the keys; sums: on all ranks, here: on this rank */
	for (int p = 0; p < PLACES; p++) {
		int32_t *place = mem + p * PLACE;
		here[0] += place[0] != 0;
		here[1] += place[0];
		for (int f = 0; f < FIELDS; f++) {
			int expect = place[0] ? ROUNDS * w->n * (f + 1) : 0;
			CHECK(place[1 + f] == expect, "%s: key %d, field %d is %d, not %d", w->name, place[0], f,
			      place[1 + f], expect);
		}
	}
	MPI_Win_unlock(w->rank, w->win);
	MPI_Allreduce(here, sums, 2, MPI_INT, MPI_SUM, w->comm);
	CHECK(sums[0] == keys && sums[1] == keys * (keys + 1) / 2, "%s: %d keys with sum %d, not %d with %d", w->name,
	      sums[0], sums[1], keys, keys * (keys + 1) / 2);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(PLACES * PLACE * sizeof(int32_t), sizeof(int32_t), MPI_COMM_WORLD, body);
	return check_end();
}
