// MPI_Win_flush, flush_all, flush_local, flush_local_all, sync (MPI-5.0 12.5.4).
//
// An operation on mapped memory is complete when its call returns. The flush only adds the memory barrier that orders
// the operation before later accesses of this process. For operations that were sent through a transport, the flush
// waits until they are complete at the target.
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"

static __attribute__((noinline)) int flush_slow(int rank, MPI_Win win, const char *call, bool local) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (gompi_epoch_enter_call(w, local ? EPOCH_FLUSH_LOCAL : EPOCH_FLUSH, rank, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, call, &v);
	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (!local)
		gompi_full_fence();
	int rc = local ? gompi_flush_local(w, rank, call) : gompi_flush(w, rank, call);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, call, rc);
}

// Returns true if the flush of one target is permitted and has nothing to wait for: a short form of the epoch check.
static inline bool nothing_pending(struct gompi_win *w, int rank) {
	if (__builtin_expect(w == NULL || (uint32_t)rank >= w->n || gompi_load(&w->flush_flags), 0))
		return false;
	return __builtin_expect(gompi_load(&w->access) & ACCESS_LOCK_ALL, 1) ||
	       (gompi_load(&w->targets[rank].state) & TARGET_LOCKED);
}

int gompi_win_flush(int rank, MPI_Win win) {
	if (!nothing_pending(gompi_win_get(win), rank))
		return flush_slow(rank, win, "MPI_Win_flush", false);
	gompi_full_fence();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_flush, gompi_win_flush);

int gompi_win_flush_local(int rank, MPI_Win win) {
	return nothing_pending(gompi_win_get(win), rank) ? MPI_SUCCESS
							 : flush_slow(rank, win, "MPI_Win_flush_local", true);
}
GOMPI_ENTRY(MPI_Win_flush_local, gompi_win_flush_local);

static inline __attribute__((always_inline)) int flush_all(MPI_Win win, const char *call, bool local) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (gompi_epoch_enter_call(w, local ? EPOCH_FLUSH_LOCAL_ALL : EPOCH_FLUSH_ALL, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, call, &v);
	if (!local)
		gompi_full_fence();
	int rc = local ? gompi_flush_local(w, GOMPI_ALL, call) : gompi_flush(w, GOMPI_ALL, call);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, call, rc);
}

int gompi_win_flush_all(MPI_Win win) { return flush_all(win, "MPI_Win_flush_all", false); }
GOMPI_ENTRY(MPI_Win_flush_all, gompi_win_flush_all);

int gompi_win_flush_local_all(MPI_Win win) { return flush_all(win, "MPI_Win_flush_local_all", true); }
GOMPI_ENTRY(MPI_Win_flush_local_all, gompi_win_flush_local_all);

int gompi_win_sync(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_sync");
	if (gompi_epoch_enter_call(w, EPOCH_SYNC, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_sync", &v);
	gompi_full_fence();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_sync, gompi_win_sync);
