/* Proves: epochs with MPI_MODE_NOCHECK on post and start (all posts precede the starts), and with NOSTORE and NOPUT on
 *   post, deliver the right data. The exposure and the access epoch may be closed in any order. Tests every window
 *   kind. MPI-5.0 12.5.2, 12.5.5
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 10, COUNT = 50 };

static void body(struct window *w) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem, values[COUNT], got[COUNT];
	MPI_Group all, from, to;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &left, &from);
	MPI_Group_incl(all, 1, &right, &to);
	for (int time = 0; time < TIMES; time++) {
		int nocheck = time % 2 ? MPI_MODE_NOCHECK : 0;
		for (int i = 0; i < COUNT; i++)
			values[i] = w->rank * 1000 + time * 100 + i;
		MPI_Win_post(from, nocheck | (time % 3 ? MPI_MODE_NOSTORE : 0), w->win);
		if (nocheck)
			MPI_Barrier(w->comm); /* afterwards all ranks have posted, as MPI_MODE_NOCHECK asserts */
		MPI_Win_start(to, nocheck, w->win);
		MPI_Put(values, COUNT, MPI_INT, right, window_at(w, right, 0), COUNT, MPI_INT, w->win);
		MPI_Win_complete(w->win);
		MPI_Win_wait(w->win);
		for (int i = 0; i < COUNT; i++)
			CHECK(mem[i] == left * 1000 + time * 100 + i, "%s window: element %d is %d, not %d", w->name, i,
			      mem[i], left * 1000 + time * 100 + i);
		/* Moves data in the reverse direction by a get, and asserts that no rank puts. */
		MPI_Win_post(from, nocheck | MPI_MODE_NOPUT | MPI_MODE_NOSTORE, w->win);
		if (nocheck)
			MPI_Barrier(w->comm);
		MPI_Win_start(to, nocheck, w->win);
		MPI_Get(got, COUNT, MPI_INT, right, window_at(w, right, 0), COUNT, MPI_INT, w->win);
		MPI_Win_complete(w->win);
		for (int i = 0; i < COUNT; i++)
			CHECK(got[i] == values[i], "%s window: got %d, not %d", w->name, got[i], values[i]);
		MPI_Win_wait(w->win);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * COUNT + 8, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
