/* Proves: RMA calls with zero elements succeed and do nothing. Covers the very end of the window, a window of size 0,
 *   and null buffers. Tests every window kind. MPI-5.0 12.2.1, 12.3
 * np: 1 2 4
 * args: fence lock flush
 * ref: mpich
 * timeout: 60
 */
#include "../epochs.h"

static int sync_mode;

static void body(struct window *w) {
	char *mem = w->mem;
	int right = (w->rank + 1) % w->n;
	MPI_Aint end = w->size;
	for (int i = 0; i < w->size; i++)
		mem[i] = 7;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++) {
		epoch_open(sync_mode, w);
		epoch_target(sync_mode, w, right);
		CHECK_OK(MPI_Put(NULL, 0, MPI_INT, right, 0, 0, MPI_INT, w->win));
		CHECK_OK(MPI_Put(NULL, 0, MPI_INT, right, end, 0, MPI_INT, w->win));
		CHECK_OK(MPI_Get(NULL, 0, MPI_DOUBLE, right, end, 0, MPI_DOUBLE, w->win));
		CHECK_OK(MPI_Accumulate(NULL, 0, MPI_INT, right, end, 0, MPI_INT, MPI_SUM, w->win));
		CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, right, end, 0, MPI_INT, MPI_SUM,
					    w->win));
		epoch_target_done(sync_mode, w, right);
		epoch_close(sync_mode, w);
		for (int k = 0; k < w->size; k++)
			CHECK(mem[k] == 7, "%s window: byte %d is %d", w->name, k, mem[k]);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	sync_mode = epoch_named(check_arg);
	windows_each(64, 1, MPI_COMM_WORLD, body);
	windows_each(0, 1, MPI_COMM_WORLD, body);
	return check_end();
}
