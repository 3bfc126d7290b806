// What a member of a window on a node does to another's words: it completes an epoch, and takes the lock.
//
// The lock of each member's memory (MPI-5.0 12.5.3): a readers-writer lock in the window's control memory, which all
// members of a node share.
//
// The lock word holds readers (bits 0..30), a writer (bit 31) and those who queue (bits 32..63). A thread that does not
// get the lock soon draws a ticket and queues. Newcomers may still pass the queue, but only LOCK_BYPASSES times for
// each turn. So a thread with k tickets in front of its own gets the lock after those k and at most LOCK_BYPASSES * (k
// + 1) newcomers, and one more for each thread that was on its way in when it drew the ticket. What others take before
// that, while it tries, is not counted. Nobody starves, and a lock that is held for some 10 ns does not go to sleep and
// wake up with every hand-over, which would make it 1,000 times slower.
//
// Processes on other nodes queue by the member's own process, which cannot wait in a call for them: it draws the ticket
// and looks whether it is its turn, and whoever gives the lock back rings for that process' progress thread.
#ifndef GOMPI_LOCK_H
#define GOMPI_LOCK_H

#include "base/wait.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

#define LOCK_WRITER ((uint64_t)1 << 31)
#define LOCK_QUEUED ((uint64_t)1 << 32)

enum { LOCK_BYPASSES = 64 };

// An origin has completed its access epoch at a member: all that belongs to it has been done.
static inline void gompi_member_completed(struct gompi_win_member *m) {
	// total, so a release: the epoch's operations are before it; pairs with the acquire in completed (rma/pscw.c)
	gompi_add_total(&m->completed, 1);
	gompi_wake_changed(&m->exposure_wait);
}

// Returns true if a newcomer may enter although somebody queues.
static inline bool gompi_lock_bypass(struct gompi_win_member *m) {
	return gompi_load(&m->lock_bypassed) < LOCK_BYPASSES && gompi_add(&m->lock_bypassed, 1) < LOCK_BYPASSES;
}

// One attempt to take the lock; head says that this thread is at the queue's head.
static inline bool gompi_lock_try(struct gompi_win_member *m, bool exclusive, bool head) {
	uint64_t v = gompi_load(&m->lock);
	while ((exclusive ? (uint32_t)v == 0 : !(v & LOCK_WRITER)) &&
	       (head || __builtin_expect(v < LOCK_QUEUED, 1) || gompi_lock_bypass(m))) {
		uint64_t new = v + (exclusive ? LOCK_WRITER : 1) - (head ? LOCK_QUEUED : 0);
		// acquire: pairs with the release in gompi_unlock, so what the last holder did is seen
		if (gompi_change_acq_rel(&m->lock, &v, new))
			return true;
	}
	return false;
}

// Takes the lock of rank's memory for the function called call, after an attempt has failed. 0 or
// MPI_ERR_PROC_ABORTED.
int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call);

// Draws a ticket for a process on another node, for whose sake this process looks at gompi_lock_turn: now, whenever it
// serves, and when its progress thread has been rung for.
uint32_t gompi_lock_queue(struct gompi_win_member *m);
// Takes the lock if it is free, or if not exclusive has no writer, and it is that ticket's turn. Returns true if it
// has.
bool gompi_lock_turn(struct gompi_win_member *m, uint32_t ticket, bool exclusive);

// Tells those who queue that the lock may be free, or that it is somebody else's turn. The last thing that the caller
// did was one of the _total changes of a word.
void gompi_lock_tell(struct gompi_win_member *m);

static inline void gompi_unlock(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	// total, so a release: everything this process did under the lock is before it
	uint64_t was = gompi_sub_total(&m->lock, exclusive ? LOCK_WRITER : 1);
	if (__builtin_expect(was >= LOCK_QUEUED, 0))
		gompi_lock_tell(m);
}

#pragma GCC visibility pop
#endif
