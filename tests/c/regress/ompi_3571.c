/* Reported (open-mpi/ompi issue 3571): concurrent accumulates of three ranks on the same eight integers lost updates.
 * Must hold: after all ranks have added 1 to every element many times, each element equals the number of additions.
 * This holds on every window kind and with every kind of epoch. MPI-5.0 12.7.1
 * np: 2 3 6
 * ref: mpich
 * timeout: 180
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 8, LOOPS = 200 };

static void body(struct window *w) {
	int *mem = w->mem, ones[COUNT];
	static const char *const how[] = {"shared lock", "exclusive lock", "lock_all", "fence"};
	for (int i = 0; i < COUNT; i++)
		ones[i] = 1;
	for (int h = 0; h < 4; h++) {
		memset(mem, 0, COUNT * sizeof(int));
		MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
		if (h != 3)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
		if (h == 2)
			MPI_Win_lock_all(0, w->win);
		int loops = h == 2 ? 10 * LOOPS : LOOPS;
		for (int i = 0; i < loops; i++)
			for (int t = 0; t < w->n; t++) { /* the same order on all ranks, so that accumulates collide */
				if (h < 2)
					MPI_Win_lock(h ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, w->win);
				if (i % 3) /* adds in one call; every third time in one call per element */
					CHECK_OK(MPI_Accumulate(ones, COUNT, MPI_INT, t, window_at(w, t, 0), COUNT,
								MPI_INT, MPI_SUM, w->win));
				for (int e = 0; i % 3 == 0 && e < COUNT; e++)
					CHECK_OK(MPI_Accumulate(ones, 1, MPI_INT, t, window_at(w, t, e), 1, MPI_INT,
								MPI_SUM, w->win));
				if (h < 2)
					MPI_Win_unlock(t, w->win);
				else if (h == 2 && i % 50 == 0)
					MPI_Win_flush(t, w->win);
			}
		if (h == 2)
			MPI_Win_unlock_all(w->win);
		if (h == 3)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
		for (int i = 0; i < COUNT; i++)
			CHECK(mem[i] == loops * w->n, "%s, %s: element %d is %d, not %d", w->name, how[h], i, mem[i],
			      loops * w->n);
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(COUNT * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
