/* Proves: when wait, test or waitall completes the request of MPI_Rput, the origin buffer may be overwritten. The data
 *   is at the target after flush or unlock. Covers many requests at once, zero counts and MPI_PROC_NULL. Tests every
 *   window kind. Also tests MPI_Rput between fences and in start epochs, where the standard does not allow it. MPI-5.0
 *   12.3.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { SLOT = 64, MANY = 20 };

static int sync_mode;

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, buffer[SLOT], fixed[MANY][SLOT], done;
	MPI_Request request, requests[MANY + 1];
	for (int i = 0; i < SLOT * n * 2; i++)
		mem[i] = -1;
	epoch_open(sync_mode, w);
	for (int k = 0; k < n; k++) {
		int t = (w->rank + k) % n;
		epoch_target(sync_mode, w, t);
		for (int i = 0; i < SLOT; i++) { /* puts one element at a time and reuses the buffer */
			buffer[0] = w->rank * 1000 + i;
			MPI_Rput(buffer, 1, MPI_INT, t, SLOT * w->rank + i, 1, MPI_INT, w->win, &request);
			if (i % 2 == 0)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			else
				for (done = 0; !done;)
					MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			CHECK(request == MPI_REQUEST_NULL, "%s window: the request is not null", w->name);
		}
		for (int i = 0; i < MANY; i++) { /* all puts at once; overlapping puts have equal values */
			for (int j = 0; j < SLOT; j++)
				fixed[i][j] = w->rank * 1000 + 500 + j;
			MPI_Rput(fixed[i], i * 3, MPI_INT, t, SLOT * (n + w->rank), i * 3, MPI_INT, w->win,
				 &requests[i]);
		}
		MPI_Rput(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[MANY]);
		MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE);
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
	for (int i = 0; i < n * SLOT; i++) {
		int first = i / SLOT * 1000 + i % SLOT, second = i % SLOT < (MANY - 1) * 3 ? first + 500 : -1;
		CHECK(mem[i] == first, "%s window: element %d from %d is %d, not %d", w->name, i % SLOT, i / SLOT,
		      mem[i], first);
		CHECK(mem[n * SLOT + i] == second, "%s window: element %d of many from %d is %d, not %d", w->name,
		      i % SLOT, i / SLOT, mem[n * SLOT + i], second);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int) * SLOT * check_size * 2, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
