// MPI_Win_flush, flush_all, flush_local, flush_local_all, sync (MPI-5.0 12.5.4).
//
// On the direct path an operation has been done when its call returned: what is left is the barrier that orders it with
// whatever this process does next. On the agent path the target's agent must have said that it has applied everything
// sent.
#include "agent.h"
#include "epoch.h"
#include "rma.h"
#include "z_entry.h"

static __attribute__((noinline)) int flush_slow(int rank, MPI_Win win, const char *call, bool local) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if ((uint32_t)rank >= w->n && rank != MPI_PROC_NULL)
		return gompi_win_error(win, call, MPI_ERR_RANK, "rank %d in a window of %u processes", rank, w->n);
	if (rank == MPI_PROC_NULL) // no operation on it needs an epoch
		return MPI_SUCCESS;
	uint32_t access = atomic_load_explicit(&w->access, memory_order_relaxed);
	if (!(access & ACCESS_PASSIVE))
		return gompi_epoch_error(w, call);
	if ((access & ACCESS_LOCK) &&
	    !(atomic_load_explicit(&w->targets[rank].state, memory_order_relaxed) & TARGET_LOCKED))
		return gompi_win_error(win, call, MPI_ERR_RMA_SYNC,
				       "rank %d is not locked by this process, other ranks are", rank);
	if (!local)
		gompi_full_fence();
	int rc = gompi_agent_flush(w, rank, call);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, call, rc);
}

// Whether the flush of one target is allowed and has nothing to wait for.
static inline bool nothing_pending(struct gompi_win *w, int rank) {
	if (__builtin_expect(w == NULL || (uint32_t)rank >= w->n ||
				     atomic_load_explicit(&w->flush_more, memory_order_relaxed),
			     0))
		return false;
	return __builtin_expect(atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_LOCK_ALL, 1) ||
	       (atomic_load_explicit(&w->targets[rank].state, memory_order_relaxed) & TARGET_LOCKED);
}

int gompi_win_flush(int rank, MPI_Win win) {
	if (!nothing_pending(gompi_win_get(win), rank))
		return flush_slow(rank, win, "MPI_Win_flush", false);
	gompi_full_fence();
	return MPI_SUCCESS;
}

int gompi_win_flush_local(int rank, MPI_Win win) {
	return nothing_pending(gompi_win_get(win), rank) ? MPI_SUCCESS
							 : flush_slow(rank, win, "MPI_Win_flush_local", true);
}

static inline int flush_all(MPI_Win win, const char *call, bool local) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (!(atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_PASSIVE))
		return gompi_epoch_error(w, call);
	if (!local)
		gompi_full_fence();
	int rc = gompi_agent_flush_all(w, call);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, call, rc);
}

int gompi_win_flush_all(MPI_Win win) { return flush_all(win, "MPI_Win_flush_all", false); }

int gompi_win_flush_local_all(MPI_Win win) { return flush_all(win, "MPI_Win_flush_local_all", true); }

int gompi_win_sync(MPI_Win win) {
	if (gompi_win_get(win) == NULL)
		return gompi_not_a_window(win, "MPI_Win_sync");
	gompi_full_fence();
	return MPI_SUCCESS;
}
