// MPI_Win_fence (MPI-5.0 12.5.1).
//
// Whatever the assertions, the members meet: MPI_MODE_NOPRECEDE still promises that no operation reaches a member
// before it has called fence, and MPI_MODE_NOSUCCEED that all operations have arrived. The assertions save the wait for
// the agents and tell which epoch follows.
#include "agent.h"
#include "epoch.h"
#include "z_entry.h"

int gompi_win_fence(int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_fence");
	int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
	if (assert & ~known)
		return gompi_win_error(
			win, "MPI_Win_fence", MPI_ERR_ASSERT,
			"assertion %d has bits other than MPI_MODE_NOSTORE, NOPUT, NOPRECEDE and NOSUCCEED (%d)",
			assert, known);
	enum gompi_epoch_call event = assert &MPI_MODE_NOSUCCEED ? EPOCH_FENCE_END : EPOCH_FENCE;
	uint32_t before = atomic_load_explicit(&w->access, memory_order_relaxed);
	if (gompi_access_after[gompi_access_number(before)][event] == 0xff ||
	    !gompi_exposure_allows[atomic_load(&w->exposure) != 0][event])
		return gompi_epoch_error(w, "MPI_Win_fence");
	int rc = gompi_agent_flush_all(w, "MPI_Win_fence");
	struct gompi_waiting what = {"MPI_Win_fence", -1, w->handle};
	if (rc == MPI_SUCCESS)
		rc = gompi_shared_barrier(w->barrier, (int)w->n, w->me, &w->barriers, &what);
	gompi_epoch_move(w, event, 0);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_fence", rc);
}
