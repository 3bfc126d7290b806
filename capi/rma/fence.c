// MPI_Win_fence (MPI-5.0 12.5.1).
//
// The members synchronize whatever assertions the program passes. Even with MPI_MODE_NOPRECEDE, no operation may reach
// a member before that member has called MPI_Win_fence. Even with MPI_MODE_NOSUCCEED, all operations must have arrived
// when the call returns. Only MPI_MODE_NOSUCCEED has an effect: the call opens no epoch.
#include "rma/barrier.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"

// Completes all operations of this process and executes the barrier. Returns 0 or an error class.
static __attribute__((noinline)) int flush_and_barrier(struct gompi_win *w, const struct gompi_wait_desc *waiting) {
	int rc = gompi_flush_before_barrier(w, waiting->call);
	return rc == MPI_SUCCESS ? gompi_win_barrier(w, waiting) : rc;
}

int gompi_win_fence(int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_fence");
	int accepted = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
	enum gompi_epoch_call call = assert &MPI_MODE_NOSUCCEED ? EPOCH_FENCE_END : EPOCH_FENCE;
	if (gompi_check_assert(assert, accepted, "MPI_MODE_NOSTORE, NOPUT, NOPRECEDE and NOSUCCEED", &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_fence", &v);
	if (gompi_epoch_enter_call(w, call, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_fence", &v);
	struct gompi_wait_desc waiting = {.call = "MPI_Win_fence", .peer = -1, .object = w->handle};
	int rc = __builtin_expect(gompi_load(&w->flush_flags) == 0, 1) ? gompi_win_node_barrier(w, &waiting)
								       : flush_and_barrier(w, &waiting);
	gompi_epoch_leave_call(w, call);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_fence", rc);
}
GOMPI_ENTRY(MPI_Win_fence, gompi_win_fence);
