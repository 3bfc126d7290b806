// MPI_Win_lock, unlock, lock_all, unlock_all (MPI-5.0 12.5.3).
#include "base/atomics.h"
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/epoch.h"
#include "win/lock.h"

static __attribute__((noinline)) int lock_slow(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	int rc = w->needs_ordered_locks ? gompi_acquire_deferred_lock(call) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? gompi_transport_to(w, rank)->lock(w, rank, exclusive, call) : rc;
}

// Acquires the lock of a member's memory. Blocks. Returns 0 or an error class.
static inline int lock_member(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	if (__builtin_expect(!w->needs_ordered_locks && gompi_lock_try(gompi_member(w, rank), exclusive, false), 1))
		return MPI_SUCCESS;
	return lock_slow(w, rank, exclusive, call);
}

// Checks the lock type. Returns 0 or the class of the error status.
static int check_type(int type, struct gompi_error_status *v) {
	if (__builtin_expect(type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE, 0))
		return gompi_set_error(v, MPI_ERR_LOCKTYPE,
				       "lock_type is %d; it must be MPI_LOCK_SHARED (%d) or MPI_LOCK_EXCLUSIVE (%d)",
				       type, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
	return MPI_SUCCESS;
}

// Checks the assertion of MPI_Win_lock and MPI_Win_lock_all. Returns 0 or the class of the error status.
static int check_assert(int assert, struct gompi_error_status *v) {
	return gompi_check_assert(assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK", v);
}

int gompi_win_lock(int lock_type, int rank, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_lock");
	if (check_type(lock_type, &v) != MPI_SUCCESS || check_assert(assert, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_lock", &v);
	if (gompi_epoch_enter_call(w, EPOCH_LOCK, rank, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_lock", &v);
	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE, check = !(assert &MPI_MODE_NOCHECK);
	int rc = check ? lock_member(w, rank, exclusive, "MPI_Win_lock") : MPI_SUCCESS;
	if (__builtin_expect(rc != MPI_SUCCESS, 0)) {
		gompi_epoch_undo(w, EPOCH_LOCK);
		return gompi_win_raise_class(w, "MPI_Win_lock", rc);
	}
	struct gompi_target *t = &w->targets[rank];
	gompi_store(&t->state, gompi_load(&t->state) | TARGET_LOCKED | (exclusive ? TARGET_EXCLUSIVE : 0) |
				       (check ? 0 : TARGET_NOCHECK));
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_lock, gompi_win_lock);

enum { LOCK_BITS = TARGET_LOCKED | TARGET_EXCLUSIVE | TARGET_NOCHECK };

// Executes MPI_Win_unlock of a member on another node. The unlock includes the flush.
static __attribute__((noinline)) int unlock_remote(struct gompi_win *w, int rank) {
	struct gompi_target *t = &w->targets[rank];
	uint32_t state = gompi_load(&t->state);
	gompi_store(&t->state, state & ~(uint32_t)LOCK_BITS);
	int rc = state & TARGET_NOCHECK
			 ? gompi_transport_to(w, rank)->flush(w, rank, "MPI_Win_unlock")
			 : gompi_transport_to(w, rank)->unlock(w, rank, state & TARGET_EXCLUSIVE, "MPI_Win_unlock");
	gompi_epoch_leave_call(w, EPOCH_UNLOCK);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_unlock", rc);
}

int gompi_win_unlock(int rank, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_unlock");
	if (gompi_epoch_enter_call(w, EPOCH_UNLOCK, rank, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_unlock", &v);
	int rc = MPI_SUCCESS;
	if (rank != MPI_PROC_NULL) {
		struct gompi_target *t = &w->targets[rank];
		uint32_t state = gompi_load(&t->state);
		if (__builtin_expect(w->needs_ordered_locks, 0) && gompi_win_is_remote(w, rank))
			return unlock_remote(w, rank);
		rc = gompi_flush(w, rank, "MPI_Win_unlock");
		gompi_store(&t->state, state & ~(uint32_t)LOCK_BITS);
		if (!(state & TARGET_NOCHECK)) {
			if (__builtin_expect(w->needs_ordered_locks, 0))
				gompi_unlock_any(w, rank, state & TARGET_EXCLUSIVE);
			else
				gompi_unlock(w, rank, state & TARGET_EXCLUSIVE);
		} else
			gompi_full_fence();
	}
	gompi_epoch_leave_call(w, EPOCH_UNLOCK);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_unlock", rc);
}
GOMPI_ENTRY(MPI_Win_unlock, gompi_win_unlock);

// Releases the locks of the first n members on this node.
static void unlock_local(struct gompi_win *w, int n) {
	for (int i = 0; i < n; i++) {
		if (__builtin_expect(w->shared_locks != NULL, 0))
			gompi_unlock_any(w, gompi_win_rank_of_local(w, i), false);
		else
			gompi_unlock(w, gompi_win_rank_of_local(w, i), false);
	}
}

int gompi_win_lock_all(int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_lock_all");
	if (check_assert(assert, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_lock_all", &v);
	if (gompi_epoch_enter_call(w, EPOCH_LOCK_ALL, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_lock_all", &v);
	w->lock_all_nocheck = assert &MPI_MODE_NOCHECK;
	if (w->lock_all_nocheck)
		return MPI_SUCCESS;
	int rc = MPI_SUCCESS, n = 0;
	for (; n < w->local_size; n++) {
		rc = lock_member(w, gompi_win_rank_of_local(w, n), false, "MPI_Win_lock_all");
		if (__builtin_expect(rc != MPI_SUCCESS, 0))
			break;
	}
	// The lock of a member on another node is acquired with the first operation to this member, possibly after
	// locks that this thread requests later. The standard permits any order (MPI-5.0 12.5.3; RATIONALE, "Locks
	// between nodes").
	if (rc == MPI_SUCCESS && w->remote != NULL)
		rc = gompi_lock_all_remote(w, "MPI_Win_lock_all");
	if (__builtin_expect(rc == MPI_SUCCESS, 1))
		return MPI_SUCCESS;
	unlock_local(w, n);
	gompi_epoch_undo(w, EPOCH_LOCK_ALL);
	return gompi_win_raise_class(w, "MPI_Win_lock_all", rc);
}
GOMPI_ENTRY(MPI_Win_lock_all, gompi_win_lock_all);

int gompi_win_unlock_all(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_unlock_all");
	if (gompi_epoch_enter_call(w, EPOCH_UNLOCK_ALL, GOMPI_ALL, &v) != MPI_SUCCESS)
		return gompi_win_raise(win, "MPI_Win_unlock_all", &v);
	bool remote = w->remote != NULL && !w->lock_all_nocheck; // the unlock of a remote member includes its flush
	int rc = remote ? gompi_flush_node(w, "MPI_Win_unlock_all") : gompi_flush(w, GOMPI_ALL, "MPI_Win_unlock_all");
	if (w->lock_all_nocheck)
		gompi_full_fence();
	else
		unlock_local(w, w->local_size);
	if (__builtin_expect(remote, 0)) {
		int remote_rc = gompi_unlock_all_remote(w, "MPI_Win_unlock_all");
		rc = rc == MPI_SUCCESS ? remote_rc : rc;
	}
	gompi_epoch_leave_call(w, EPOCH_UNLOCK_ALL);
	return rc == MPI_SUCCESS ? rc : gompi_win_raise_class(w, "MPI_Win_unlock_all", rc);
}
GOMPI_ENTRY(MPI_Win_unlock_all, gompi_win_unlock_all);
