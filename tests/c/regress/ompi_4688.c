/* Reported (open-mpi/ompi issue 4688): MPI_Fetch_and_op and MPI_Accumulate were not atomic with respect to each other.
 * The network adapter executed the former, the library executed the latter in software.
 * Must hold: each rank accumulates arrays to its left neighbour. It also adds to single elements of its right neighbour
 * with MPI_Fetch_and_op, in the range that every accumulate covers. No update is lost, and the values that one rank
 * fetches from one element never decrease. MPI-5.0 12.7.1
 * np: 2 3 6
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 1024, LOOPS = 200, FETCHED = 30 /* fetches in each loop */, HOT = 100, BURST = 10 };

/* Returns the index of the element that fetch number f of loop i accesses. */
static int place(int i, int f) { return (i * 37 + f * 101) % HOT; }

static void body(struct window *w) {
	int32_t *mem = w->mem, *ones = malloc(COUNT * sizeof *ones), *last = calloc(COUNT, sizeof *last), got;
	int left = (w->rank + w->n - 1) % w->n, right = (w->rank + 1) % w->n;
	const int32_t one = 1;
	for (int i = 0; i < COUNT; i++)
		ones[i] = 1;
	memset(mem, 0, COUNT * sizeof *mem);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < LOOPS; i++) {
		CHECK_OK(MPI_Accumulate(ones, COUNT, MPI_INT32_T, left, window_at(w, left, 0), COUNT, MPI_INT32_T,
					MPI_SUM, w->win));
		for (int b = 0; b < BURST; b++)
			CHECK_OK(MPI_Accumulate(ones, HOT, MPI_INT32_T, left, window_at(w, left, 0), HOT, MPI_INT32_T,
						MPI_SUM, w->win));
		for (int f = 0; f < FETCHED; f++) {
			int k = place(i, f);
			CHECK_OK(MPI_Fetch_and_op(&one, &got, MPI_INT32_T, right, window_at(w, right, k), MPI_SUM,
						  w->win));
			MPI_Win_flush_local(right, w->win);
			CHECK(got >= last[k], "%s: element %d of rank %d was %d and is %d", w->name, k, right, last[k],
			      got);
			last[k] = got + 1;
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	memset(last, 0, COUNT * sizeof *last);
	for (int i = 0; i < LOOPS; i++)
		for (int f = 0; f < FETCHED; f++)
			last[place(i, f)]++;
	for (int k = 0; k < COUNT; k++) {
		int expect = LOOPS + last[k] + (k < HOT ? LOOPS * BURST : 0);
		CHECK(mem[k] == expect, "%s: element %d is %d, not %d", w->name, k, mem[k], expect);
	}
	MPI_Win_unlock(w->rank, w->win);
	free(ones);
	free(last);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(COUNT * sizeof(int32_t), sizeof(int32_t), MPI_COMM_WORLD, body);
	return check_end();
}
