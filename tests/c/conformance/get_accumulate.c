/* Proves: MPI_Get_accumulate fetches and updates each element atomically. If all ranks add 1 to the same elements, the
 *   fetched values are 0 .. n-1, each once. NO_OP ignores the origin and changes nothing. REPLACE fetches the old
 *   values and stores the new values. Tests every synchronization on every window kind. MPI-5.0 12.3.4, 12.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all flush_local flush_local_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { MOST = 200, ROUNDS = 4 };

static int sync_mode;

static void check_tickets(struct window *w, const int *fetched, int count) {
	/* Each rank sets bit k of bits[i] if it fetched value k from element i. The sum over all ranks is (1 << n) - 1
	 * if exactly one rank fetched each value. */
	int n = w->n;
	int *bits = malloc(sizeof(int) * n * MOST);
	int *all = malloc(sizeof(int) * n * MOST);
	for (int i = 0; i < n * MOST; i++) {
		int in = i % MOST < count;
		CHECK(in ? fetched[i] >= 0 && fetched[i] < n : fetched[i] == -9, "%s window: fetched[%d] is %d",
		      w->name, i, fetched[i]);
		bits[i] = in ? 1 << (fetched[i] & 7) : 0;
	}
	MPI_Allreduce(bits, all, n * MOST, MPI_INT, MPI_SUM, w->comm);
	for (int i = 0; i < n * MOST; i++) {
		int want = i % MOST < count ? (1 << n) - 1 : 0;
		CHECK(all[i] == want, "%s window: values fetched from element %d of rank %d make 0x%x, not 0x%x",
		      w->name, i % MOST, i / MOST, all[i], want);
	}
	free(bits);
	free(all);
}

static void body(struct window *w) {
	static const int counts[ROUNDS] = {200, 0, 1, 3};
	int n = w->n;
	int *mem = w->mem;
	int *fetched = malloc(sizeof(int) * n * MOST), *one = malloc(sizeof(int) * MOST);
	for (int i = 0; i < MOST; i++)
		one[i] = 1;
	for (int round = 0; round < ROUNDS; round++) {
		int count = counts[round];
		for (int i = 0; i < MOST; i++)
			mem[i] = 0;
		for (int i = 0; i < n * MOST; i++)
			fetched[i] = -9;
		epoch_open(sync_mode, w);
		for (int k = 0; k < n; k++) {
			int t = (w->rank + k) % n;
			epoch_target(sync_mode, w, t);
			MPI_Get_accumulate(one, count, MPI_INT, fetched + t * MOST, count, MPI_INT, t, 0, count,
					   MPI_INT, MPI_SUM, w->win);
			epoch_target_done(sync_mode, w, t);
		}
		epoch_close(sync_mode, w);
		for (int i = 0; i < MOST; i++)
			CHECK(mem[i] == (i < count ? n : 0), "%s window: element %d is %d after %d additions", w->name,
			      i, mem[i], n);
		check_tickets(w, fetched, count);

		/* MPI_NO_OP reads and ignores its origin arguments; MPI_REPLACE swaps. Only rank 0 swaps, with the
		 * memory of its neighbour. */
		int t = 1 % n, read[MOST], new[MOST];
		for (int i = 0; i < MOST; i++)
			new[i] = 500 + i;
		epoch_open(sync_mode, w);
		epoch_target(sync_mode, w, t);
		if (w->rank == 0)
			MPI_Get_accumulate(new, count, MPI_INT, read, count, MPI_INT, t, 0, count, MPI_INT, MPI_REPLACE,
					   w->win);
		epoch_target_done(sync_mode, w, t);
		epoch_close(sync_mode, w);
		for (int i = 0; i < count && w->rank == 0; i++)
			CHECK(read[i] == n, "%s window: REPLACE fetched %d, not %d", w->name, read[i], n);
		epoch_open(sync_mode, w);
		epoch_target(sync_mode, w, t);
		MPI_Get_accumulate(NULL, 0, MPI_INT, read, count, MPI_INT, t, 0, count, MPI_INT, MPI_NO_OP, w->win);
		epoch_target_done(sync_mode, w, t);
		epoch_close(sync_mode, w);
		for (int i = 0; i < count; i++)
			CHECK(read[i] == 500 + i, "%s window: NO_OP fetched %d, not %d", w->name, read[i], 500 + i);
	}
	free(fetched);
	free(one);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * MOST, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
