// Operations of one member of a window on a node on the shared words of another: completing an epoch, and the lock.
//
// The lock of each member's memory (MPI-5.0 12.5.3): a readers-writer lock in the window's control memory, which all
// members of a node share.
//
// The lock word holds the number of readers (bits 0..30), a writer (bit 31) and the number of queued waiters (bits
// 32..63). A thread that does not get the lock soon draws a ticket and queues. Newcomers may still bypass the queue,
// but only LOCK_BYPASSES times for each turn. So a thread with k tickets before its own waits for these k and for at
// most LOCK_BYPASSES * (k + 1) newcomers. It also waits for each thread that was already entering when it drew the
// ticket. Acquisitions before that, during its attempts, are not counted. So no thread starves. And waiters for a lock
// that is held for some 10 ns do not sleep and wake at each hand-over, which would make it 1,000 times slower.
//
// Processes on other nodes queue through the member's own process, which cannot block in a call for them. It draws the
// ticket for them and polls for its turn; each unlocker rings the doorbell of its progress thread.
#ifndef GOMPI_LOCK_H
#define GOMPI_LOCK_H

#include "base/wait.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

#define LOCK_WRITER ((uint64_t)1 << 31)
#define LOCK_QUEUED ((uint64_t)1 << 32)

enum { LOCK_BYPASSES = 64 };

// Records that an origin has completed its access epoch at a member. All operations of the epoch have been applied.
static inline void gompi_member_completed(struct gompi_win_member *m) {
	// total, so a release: the epoch's operations come before it; pairs with the acquire in completed (rma/pscw.c)
	gompi_add_total(&m->completed, 1);
	gompi_wake_changed(&m->exposure_wait);
}

// Returns true if a newcomer may bypass the queue, and counts the bypass.
static inline bool gompi_lock_bypass(struct gompi_win_member *m) {
	return gompi_load(&m->lock_bypassed) < LOCK_BYPASSES && gompi_add(&m->lock_bypassed, 1) < LOCK_BYPASSES;
}

// Tries once to acquire the lock. head: this thread is at the queue's head. Returns true on success.
static inline bool gompi_lock_try(struct gompi_win_member *m, bool exclusive, bool head) {
	uint64_t v = gompi_load(&m->lock);
	while ((exclusive ? (uint32_t)v == 0 : !(v & LOCK_WRITER)) &&
	       (head || __builtin_expect(v < LOCK_QUEUED, 1) || gompi_lock_bypass(m))) {
		uint64_t new = v + (exclusive ? LOCK_WRITER : 1) - (head ? LOCK_QUEUED : 0);
		// acquire: pairs with the release in gompi_unlock, makes the stores of the last holder visible
		if (gompi_change_acq_rel(&m->lock, &v, new))
			return true;
	}
	return false;
}

// Acquires the lock of rank's memory for the function called call, after a failed attempt. Blocks. Returns 0 or
// MPI_ERR_PROC_ABORTED.
int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call);

// Draws a ticket for a process on another node. On its behalf this process polls gompi_lock_turn: now, each time it
// serves, and when the doorbell of its progress thread is rung.
uint32_t gompi_lock_queue(struct gompi_win_member *m);
// Acquires the lock if it is the turn of the ticket and the lock is free or, unless exclusive, has no writer. Returns
// true on success.
bool gompi_lock_turn(struct gompi_win_member *m, uint32_t ticket, bool exclusive);

// Notifies the waiters in the queue that the lock may be free or that the turn has changed. The last action of the
// caller must be a _total change of a word.
void gompi_lock_tell(struct gompi_win_member *m);

// Releases the lock of rank's memory and notifies the waiters in the queue.
static inline void gompi_unlock(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	// total, so a release: all accesses of this process under the lock come before it
	uint64_t was = gompi_sub_total(&m->lock, exclusive ? LOCK_WRITER : 1);
	if (__builtin_expect(was >= LOCK_QUEUED, 0))
		gompi_lock_tell(m);
}

#pragma GCC visibility pop
#endif
