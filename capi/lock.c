// MPI_Win_lock, unlock, lock_all, unlock_all (MPI-5.0 12.5.3): a readers-writer lock for each member's memory in the
// window's shared control memory.
//
// The lock word of a member holds readers (bits 0..30), a writer (bit 31) and those who queue (bits 32..63). A thread
// that does not get the lock soon draws a ticket and queues. Newcomers may still pass the queue, but only BYPASSES
// times for each turn: nobody starves, and a lock that is held for some 10 ns does not go to sleep and wake up with
// every hand-over, which would make it 1,000 times slower.

#include <sched.h>

#include "agent.h"
#include "epoch.h"
#include "z_entry.h"

#define WRITER ((uint64_t)1 << 31)
#define QUEUED ((uint64_t)1 << 32)

enum { TRIES_ALONE = 1000, TRIES_CROWDED = 2, BYPASSES = 64 };

static bool may_enter(uint64_t v, bool exclusive) { return exclusive ? (uint32_t)v == 0 : !(v & WRITER); }

// Whether a newcomer may enter although somebody queues.
static bool may_bypass(struct gompi_win_member *m) {
	return atomic_load_explicit(&m->lock_bypassed, memory_order_relaxed) < BYPASSES &&
	       atomic_fetch_add_explicit(&m->lock_bypassed, 1, memory_order_relaxed) < BYPASSES;
}

// One attempt to take the lock; head says that this thread is at the queue's head.
static inline bool try_lock(struct gompi_win_member *m, bool exclusive, bool head) {
	uint64_t v = atomic_load_explicit(&m->lock, memory_order_relaxed);
	while (may_enter(v, exclusive) && (head || __builtin_expect(v < QUEUED, 1) || may_bypass(m))) {
		uint64_t new = v + (exclusive ? WRITER : 1) - (head ? QUEUED : 0);
		// acquire: pairs with the release in unlock_member, so what the last holder did is seen
		if (atomic_compare_exchange_weak_explicit(&m->lock, &v, new, memory_order_acq_rel,
							  memory_order_relaxed))
			return true;
	}
	return false;
}

struct turn {
	struct gompi_win_member *m;
	uint32_t ticket;
	bool exclusive;
};

static bool my_turn(void *arg) {
	struct turn *t = arg;
	return atomic_load_explicit(&t->m->lock_serving, memory_order_acquire) == t->ticket &&
	       try_lock(t->m, t->exclusive, true);
}

static __attribute__((noinline)) int lock_queued(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	for (int i = 0; i < (gompi_node.crowded ? TRIES_CROWDED : TRIES_ALONE); i++) {
		if (gompi_node.crowded)
			sched_yield();
		else
			gompi_pause();
		if (try_lock(m, exclusive, false))
			return MPI_SUCCESS;
	}
	atomic_fetch_add_explicit(&m->lock, QUEUED, memory_order_relaxed);
	struct turn t = {m, atomic_fetch_add_explicit(&m->lock_next, 1, memory_order_relaxed), exclusive};
	struct gompi_waiting what = {call, m->process, w->handle};
	int rc = gompi_await(&m->lock_wait, my_turn, &t, &what);
	if (rc != MPI_SUCCESS)
		return rc; // a process died: the job is at its end, the queue with it
	atomic_store_explicit(&m->lock_bypassed, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&m->lock_serving, 1, memory_order_seq_cst);
	gompi_wake(&m->lock_wait);
	return MPI_SUCCESS;
}

// The name is loaded here, where it is needed, not once for the loop of MPI_Win_lock_all.
static __attribute__((noinline)) int lock_queued_all(struct gompi_win *w, int rank) {
	return lock_queued(w, rank, false, "MPI_Win_lock_all");
}

static inline void unlock_member(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	// seq_cst: everything this process did under the lock is before it, and it is the full barrier before the look
	// at who sleeps
	uint64_t was = atomic_fetch_sub_explicit(&m->lock, exclusive ? WRITER : 1, memory_order_seq_cst);
	if (__builtin_expect(was >= QUEUED, 0))
		gompi_wake(&m->lock_wait);
}

int gompi_win_lock(int lock_type, int rank, int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_lock");
	if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
		return gompi_win_error(win, "MPI_Win_lock", MPI_ERR_LOCKTYPE,
				       "lock type %d is neither MPI_LOCK_SHARED (%d) nor MPI_LOCK_EXCLUSIVE (%d)",
				       lock_type, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
	if (assert & ~MPI_MODE_NOCHECK)
		return gompi_win_error(win, "MPI_Win_lock", MPI_ERR_ASSERT,
				       "assertion %d: only 0 and MPI_MODE_NOCHECK (%d) are possible", assert,
				       MPI_MODE_NOCHECK);
	if ((uint32_t)rank >= w->n) {
		if (rank == MPI_PROC_NULL)
			return gompi_epoch_move(w, EPOCH_LOCK, 1) ? MPI_SUCCESS : gompi_epoch_error(w, "MPI_Win_lock");
		return gompi_win_error(win, "MPI_Win_lock", MPI_ERR_RANK, "rank %d in a window of %u processes", rank,
				       w->n);
	}
	struct gompi_target *t = &w->targets[rank];
	uint32_t state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if (state & TARGET_LOCKED)
		return gompi_win_error(win, "MPI_Win_lock", MPI_ERR_RMA_SYNC,
				       "rank %d is already locked by this process since MPI_Win_lock", rank);
	if (!gompi_epoch_move(w, EPOCH_LOCK, 1))
		return gompi_epoch_error(w, "MPI_Win_lock");
	bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
	if (!(assert &MPI_MODE_NOCHECK)) {
		int rc = __builtin_expect(try_lock(gompi_member(w, rank), exclusive, false), 1)
				 ? MPI_SUCCESS
				 : lock_queued(w, rank, exclusive, "MPI_Win_lock");
		if (__builtin_expect(rc != MPI_SUCCESS, 0)) {
			gompi_epoch_move(w, EPOCH_UNLOCK, -1);
			return gompi_wait_error(w, "MPI_Win_lock", rc);
		}
	}
	atomic_store_explicit(&t->state,
			      state | TARGET_LOCKED | (exclusive ? TARGET_EXCLUSIVE : 0) |
				      (assert &MPI_MODE_NOCHECK ? TARGET_NOCHECK : 0),
			      memory_order_relaxed);
	return MPI_SUCCESS;
}

int gompi_win_unlock(int rank, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_unlock");
	if ((uint32_t)rank >= w->n) {
		if (rank == MPI_PROC_NULL)
			return gompi_epoch_move(w, EPOCH_UNLOCK, -1) ? MPI_SUCCESS
								     : gompi_epoch_error(w, "MPI_Win_unlock");
		return gompi_win_error(win, "MPI_Win_unlock", MPI_ERR_RANK, "rank %d in a window of %u processes", rank,
				       w->n);
	}
	struct gompi_target *t = &w->targets[rank];
	uint32_t state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if (!(state & TARGET_LOCKED)) {
		if (atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_LOCK)
			return gompi_win_error(win, "MPI_Win_unlock", MPI_ERR_RMA_SYNC,
					       "rank %d is not locked by this process, other ranks are", rank);
		return gompi_epoch_error(w, "MPI_Win_unlock");
	}
	int rc = gompi_agent_flush(w, rank, "MPI_Win_unlock");
	atomic_store_explicit(&t->state, state & ~(uint32_t)(TARGET_LOCKED | TARGET_EXCLUSIVE | TARGET_NOCHECK),
			      memory_order_relaxed);
	if (!(state & TARGET_NOCHECK))
		unlock_member(w, rank, state & TARGET_EXCLUSIVE);
	else
		gompi_full_fence();
	gompi_epoch_move(w, EPOCH_UNLOCK, -1);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_unlock", rc);
}

int gompi_win_lock_all(int assert, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_lock_all");
	if (assert & ~MPI_MODE_NOCHECK)
		return gompi_win_error(win, "MPI_Win_lock_all", MPI_ERR_ASSERT,
				       "assertion %d: only 0 and MPI_MODE_NOCHECK (%d) are possible", assert,
				       MPI_MODE_NOCHECK);
	if (!gompi_epoch_move(w, EPOCH_LOCK_ALL, 0))
		return gompi_epoch_error(w, "MPI_Win_lock_all");
	w->lock_all_nocheck = assert &MPI_MODE_NOCHECK;
	if (w->lock_all_nocheck)
		return MPI_SUCCESS;
	for (uint32_t i = 0; i < w->n; i++) {
		int rc = __builtin_expect(try_lock(gompi_member(w, (int)i), false, false), 1)
				 ? MPI_SUCCESS
				 : lock_queued_all(w, (int)i);
		if (rc != MPI_SUCCESS) {
			while (i-- > 0)
				unlock_member(w, (int)i, false);
			gompi_epoch_move(w, EPOCH_UNLOCK_ALL, 0);
			return gompi_wait_error(w, "MPI_Win_lock_all", rc);
		}
	}
	return MPI_SUCCESS;
}

int gompi_win_unlock_all(MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, "MPI_Win_unlock_all");
	if (!(atomic_load_explicit(&w->access, memory_order_relaxed) & ACCESS_LOCK_ALL))
		return gompi_epoch_error(w, "MPI_Win_unlock_all");
	int rc = gompi_agent_flush_all(w, "MPI_Win_unlock_all");
	if (w->lock_all_nocheck)
		gompi_full_fence();
	else
		for (uint32_t i = 0; i < w->n; i++)
			unlock_member(w, (int)i, false);
	gompi_epoch_move(w, EPOCH_UNLOCK_ALL, 0);
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(w, "MPI_Win_unlock_all", rc);
}
