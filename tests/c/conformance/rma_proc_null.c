/* Proves: every RMA call to MPI_PROC_NULL succeeds and does nothing, with any displacement, in every kind of epoch.
 *   Result buffers do not change. Tests every window kind. MPI-5.0 12.3
 * np: 1 2
 * args: fence pscw lock lock_all flush
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

static int sync_mode;

static void body(struct window *w) {
	int *mem = w->mem, value = 3, result = -5, null = MPI_PROC_NULL;
	MPI_Aint far = (MPI_Aint)1 << 40;
	mem[0] = 11;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	epoch_open(sync_mode, w);
	epoch_target(sync_mode, w, w->rank);
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, null, 0, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, null, far, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Get(&result, 1, MPI_INT, null, 0, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, null, 0, 1, MPI_INT, MPI_SUM, w->win));
	CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, null, far, 1, MPI_INT, MPI_SUM, w->win));
	CHECK_OK(MPI_Fetch_and_op(&value, &result, MPI_INT, null, 0, MPI_SUM, w->win));
	CHECK_OK(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, null, 0, w->win));
	if (sync_mode != SYNC_FENCE && sync_mode != SYNC_PSCW) {
		MPI_Request r[4];
		CHECK_OK(MPI_Rput(&value, 1, MPI_INT, null, 0, 1, MPI_INT, w->win, r));
		CHECK_OK(MPI_Rget(&result, 1, MPI_INT, null, 0, 1, MPI_INT, w->win, r + 1));
		CHECK_OK(MPI_Raccumulate(&value, 1, MPI_INT, null, 0, 1, MPI_INT, MPI_SUM, w->win, r + 2));
		CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, null, 0, 1, MPI_INT, MPI_SUM,
					     w->win, r + 3));
		CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
	}
	epoch_target_done(sync_mode, w, w->rank);
	epoch_close(sync_mode, w);
	CHECK(result == -5, "%s window: a result was written: %d", w->name, result);
	CHECK(mem[0] == 11, "%s window: the own window was written: %d", w->name, mem[0]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
