/* Proves: when wait, test, waitany or waitall completes the request of MPI_Rget, the data is in the origin buffer. This
 *   needs no flush and no end of the epoch. Covers many requests at once, zero counts and MPI_PROC_NULL. Tests every
 *   window kind. Also tests MPI_Rget between fences and in start epochs, where the standard does not allow it. MPI-5.0
 *   12.3.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { COUNT = 64, MANY = 20 };

static int sync_mode;

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, into[MANY][COUNT], done, which;
	MPI_Request request, requests[MANY + 1];
	for (int i = 0; i < COUNT; i++)
		mem[i] = w->rank * 1000 + i;
	epoch_open(sync_mode, w);
	for (int k = 0; k < n; k++) {
		int t = (w->rank + k) % n;
		epoch_target(sync_mode, w, t);
		for (int i = 0; i < COUNT; i++) {
			int got = -1;
			MPI_Rget(&got, 1, MPI_INT, t, i, 1, MPI_INT, w->win, &request);
			if (i % 3 == 0)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			else if (i % 3 == 1)
				for (done = 0; !done;)
					MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			else
				MPI_Waitany(1, &request, &which, MPI_STATUS_IGNORE);
			CHECK(got == t * 1000 + i, "%s window: got %d, not %d", w->name, got, t * 1000 + i);
			CHECK(request == MPI_REQUEST_NULL, "%s window: the request is not null", w->name);
		}
		memset(into, 0xff, sizeof into);
		for (int i = 0; i < MANY; i++)
			MPI_Rget(into[i], i * 3, MPI_INT, t, i % 5, i * 3, MPI_INT, w->win, &requests[i]);
		MPI_Rget(into, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[MANY]);
		MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < MANY; i++)
			for (int j = 0; j < COUNT; j++) {
				int want = j < i * 3 ? t * 1000 + i % 5 + j : -1;
				CHECK(into[i][j] == want, "%s window: element %d of get %d is %d, not %d", w->name, j,
				      i, into[i][j], want);
			}
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * COUNT, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
