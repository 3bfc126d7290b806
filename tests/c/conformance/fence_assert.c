/* Proves: fences with MPI_MODE_NOPRECEDE, NOSUCCEED, NOSTORE, NOPUT and their combinations move data as plain fences
 *   do. After NOSUCCEED the window accepts locks. A window can alternate between fences and locks many times. Tests
 *   every window kind. MPI-5.0 12.5.1, 12.5.5
 * np: 1 2 5
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 12 };

static void body(struct window *w) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem, got, one = 1;
	mem[0] = mem[1] = mem[2] = -1;
	for (int i = 0; i < TIMES; i++) {
		int value = w->rank * 100 + i;
		/* phase with a put; no RMA call precedes this fence */
		MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
		MPI_Put(&value, 1, MPI_INT, right, window_at(w, right, 0), 1, MPI_INT, w->win);
		if (i % 2 == 0)
			MPI_Win_fence(MPI_MODE_NOSTORE, w->win); /* no local store since the last fence */
		else
			MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, w->win);
		CHECK(mem[0] == left * 100 + i, "%s window: fence %d: %d, not %d", w->name, i, mem[0], left * 100 + i);
		mem[1] = mem[0] + 1;
		if (i % 2 == 1) { /* a lock epoch between the fences */
			MPI_Barrier(w->comm);
			MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
			MPI_Accumulate(&one, 1, MPI_INT, right, window_at(w, right, 2), 1, MPI_INT, MPI_SUM, w->win);
			MPI_Win_unlock(right, w->win);
			MPI_Barrier(w->comm);
		}
		/* phase with a get; no rank puts into this window until the next fence */
		MPI_Win_fence(i % 2 == 0 ? MPI_MODE_NOPUT : MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE, w->win);
		got = -1;
		MPI_Get(&got, 1, MPI_INT, right, window_at(w, right, 1), 1, MPI_INT, w->win);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
		CHECK(got == w->rank * 100 + i + 1, "%s window: fence %d: got %d, not %d", w->name, i, got,
		      w->rank * 100 + i + 1);
	}
	CHECK(mem[2] == -1 + TIMES / 2, "%s window: %d accumulates under locks, not %d", w->name, mem[2] + 1,
	      TIMES / 2);
	/* fences without operations between them, with all assertions at once */
	for (int i = 0; i < 5; i++)
		MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
