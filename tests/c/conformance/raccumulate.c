/* Proves: when wait or test completes the request of MPI_Raccumulate or MPI_Rget_accumulate, the origin buffer may be
 *   reused and the fetched values are present. This does not need the end of the epoch. All ranks add to the same
 *   elements and no update is lost. Tests every window kind. Also tests these calls between fences and in start epochs,
 *   where the standard does not allow them. MPI-5.0 12.3.5
 * np: 1 2 5
 * args: fence pscw lock lock_shared lock_all flush flush_all
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

enum { COUNT = 24, TIMES = 10 };

static int sync_mode;

static void body(struct window *w) {
	int n = w->n, done;
	int64_t *mem = w->mem, add[COUNT], old[COUNT], last[COUNT];
	MPI_Request request, both[3];
	for (int i = 0; i < 2 * COUNT; i++)
		mem[i] = 0;
	epoch_open(sync_mode, w);
	for (int k = 0; k < n; k++) {
		int t = (w->rank + k) % n;
		epoch_target(sync_mode, w, t);
		for (int i = 0; i < COUNT; i++)
			last[i] = -1;
		for (int time = 0; time < TIMES; time++) {
			for (int i = 0; i < COUNT; i++)
				add[i] = i + 1;
			MPI_Raccumulate(add, COUNT, MPI_INT64_T, t, 0, COUNT, MPI_INT64_T, MPI_SUM, w->win, &request);
			if (time % 2 == 0)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			else
				for (done = 0; !done;)
					MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			for (int i = 0; i < COUNT; i++)
				add[i] = 1, old[i] = -7;
			MPI_Rget_accumulate(add, COUNT, MPI_INT64_T, old, COUNT, MPI_INT64_T, t, COUNT, COUNT,
					    MPI_INT64_T, MPI_SUM, w->win, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			for (int i = 0; i < COUNT; i++) {
				CHECK(old[i] > last[i] && old[i] < n * TIMES, "%s window: fetched %d behind %d",
				      w->name, (int)old[i], (int)last[i]);
				last[i] = old[i];
			}
		}
		MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, old, 2, MPI_INT64_T, t, COUNT, 2, MPI_INT64_T, MPI_NO_OP,
				    w->win, &both[0]);
		MPI_Raccumulate(add, 0, MPI_INT64_T, t, 0, 0, MPI_INT64_T, MPI_SUM, w->win, &both[1]);
		MPI_Raccumulate(add, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, MPI_SUM, w->win, &both[2]);
		MPI_Waitall(3, both, MPI_STATUSES_IGNORE);
		CHECK(old[0] >= TIMES && old[0] <= n * TIMES, "%s window: NO_OP gave %d", w->name, (int)old[0]);
		epoch_target_done(sync_mode, w, t);
	}
	epoch_close(sync_mode, w);
	for (int i = 0; i < COUNT; i++) {
		int want = n * TIMES * (i + 1);
		CHECK(mem[i] == want, "%s window: element %d is %d, not %d", w->name, i, (int)mem[i], want);
		CHECK(mem[COUNT + i] == n * TIMES, "%s window: counter %d is %d, not %d", w->name, i,
		      (int)mem[COUNT + i], n * TIMES);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(sizeof(int64_t) * COUNT * 2, sizeof(int64_t), MPI_COMM_WORLD, body);
	return check_end();
}
