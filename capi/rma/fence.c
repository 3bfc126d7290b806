// MPI_Win_fence (MPI-5.0 12.5.1).
//
// The members always synchronize, whatever the assertions. Even with MPI_MODE_NOPRECEDE no operation may reach a member
// before it has called fence. Even with MPI_MODE_NOSUCCEED all operations must have arrived. The assertions avoid the
// wait for the progress threads, and determine which epoch follows.
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"

// Completes all operations of this process and executes the barrier. Returns 0 or an error class.
static __attribute__((noinline)) int settle_and_meet(struct gompi_win *w, const struct gompi_waiting *what) {
	int rc = gompi_settle(w, what->call);
	return rc == MPI_SUCCESS ? gompi_win_barrier(w, what) : rc;
}

int gompi_win_fence(int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_fence");
	int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
	enum gompi_epoch_call call = assert &MPI_MODE_NOSUCCEED ? EPOCH_FENCE_END : EPOCH_FENCE;
	if (gompi_check_assert(assert, known, "MPI_MODE_NOSTORE, NOPUT, NOPRECEDE and NOSUCCEED", &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_fence", &v);
	if (gompi_epoch(w, call, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_refuse(win, "MPI_Win_fence", &v);
	struct gompi_waiting what = {.call = "MPI_Win_fence", .peer = -1, .object = w->handle};
	int rc = __builtin_expect(gompi_load(&w->flush_more) == 0, 1) ? gompi_win_node_barrier(w, &what)
								      : settle_and_meet(w, &what);
	gompi_epoch_over(w, call);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_fence", rc);
}
GOMPI_ENTRY(MPI_Win_fence, gompi_win_fence);
