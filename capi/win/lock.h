// Operations of a member of a window on the shared words of another member on the same node: completing an epoch, and
// acquiring and releasing the lock.
//
// The lock of each member's memory (MPI-5.0 12.5.3): a readers-writer lock in the window's control memory, which all
// members of a node share.
//
// The lock word holds the number of readers (bits 0..30), a writer (bit 31) and the number of queued waiters (bits
// 32..63). A thread that does not acquire the lock soon draws a ticket and queues. Newcomers may still bypass the
// queue, but only MAX_LOCK_BYPASSES times for each turn. So no thread starves. A thread with k tickets before its own
// waits for these k threads and for at most MAX_LOCK_BYPASSES * (k + 1) newcomers. The thread also waits for each
// thread that was already acquiring the lock when the ticket was drawn. Before the ticket is drawn, any number of other
// threads may acquire the lock. Bypasses make the lock fast. Without bypasses, each hand-over of a lock that is held
// for only 10 ns would include a sleep and a wake-up, and would take 1,000 times as long.
//
// For a process on another node, the member's own process draws a ticket. It cannot block for another process, so it
// polls for the turn of the ticket. Each unlocker rings the doorbell of the progress thread of the member's process.
//
// In a fault-tolerant job the lock can be released whenever its holder fails, because each step of acquiring it also
// records the holder. The low bits of the word are 0, or LOCK_WRITER and the writer's index on the node. Readers are
// counted apart (shared_locks in struct gompi_win). A reader counts itself, and then checks for a writer. A writer
// stores its index, and then checks for readers. So at least one of them sees the other and withdraws. There are no
// tickets, because the waiter whose turn it is may fail.
#ifndef GOMPI_LOCK_H
#define GOMPI_LOCK_H

#include "base/wait.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

#define LOCK_WRITER ((uint64_t)1 << 31)
#define LOCK_QUEUED ((uint64_t)1 << 32)

enum { MAX_LOCK_BYPASSES = 64 };

// Records that an origin has completed its access epoch at a member. All operations of the epoch have been applied.
static inline void gompi_member_add_complete(struct gompi_win_member *m) {
	// seq_cst, hence a release: the epoch's operations come before it; pairs with the acquire in exposure_completed
	// (rma/pscw.c)
	gompi_add_seq_cst(&m->complete_count, 1);
	gompi_wake_after_rmw(&m->exposure_wait);
}

// Returns true if a newcomer may bypass the queue, and counts the bypass.
static inline bool gompi_lock_try_bypass(struct gompi_win_member *m) {
	return gompi_load(&m->lock_bypass_count) < MAX_LOCK_BYPASSES &&
	       gompi_add(&m->lock_bypass_count, 1) < MAX_LOCK_BYPASSES;
}

// Tries once to acquire the lock, in a job that is not fault-tolerant. at_head is true if this thread is at the head of
// the queue. Returns true on success.
static inline bool gompi_lock_try(struct gompi_win_member *m, bool exclusive, bool at_head) {
	uint64_t v = gompi_load(&m->lock);
	while ((exclusive ? (uint32_t)v == 0 : !(v & LOCK_WRITER)) &&
	       (at_head || __builtin_expect(v < LOCK_QUEUED, 1) || gompi_lock_try_bypass(m))) {
		uint64_t new = v + (exclusive ? LOCK_WRITER : 1) - (at_head ? LOCK_QUEUED : 0);
		// acquire: pairs with the release in gompi_unlock, makes the stores of the last holder visible
		if (gompi_cas_weak_acq_rel(&m->lock, &v, new))
			return true;
	}
	return false;
}

// Tries once to acquire the lock of the memory of `rank`, in any job. Returns true on success.
bool gompi_lock_try_newcomer(struct gompi_win *w, int rank, bool exclusive);
// Acquires the lock of the memory of `rank` after a failed attempt, for the MPI function named `call`. Blocks. Returns
// 0 or MPI_ERR_PROC_ABORTED.
int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call);

// Draws a ticket for the lock of this process' memory, for a process on another node. On its behalf this process polls
// gompi_lock_try_ticket: at once, each time it serves requests, and when the doorbell of its progress thread is rung.
uint32_t gompi_lock_enqueue(struct gompi_win *w);
// Acquires the lock if it is the turn of the ticket, and the lock is free or, if `exclusive` is false, held only by
// readers. In a fault-tolerant job it is always the turn of the ticket. Returns true on success.
bool gompi_lock_try_ticket(struct gompi_win *w, uint32_t ticket, bool exclusive);

// Releases the locks that failed members of the node hold at `rank` in a fault-tolerant job, and notifies the waiters.
// Returns the number of such locks since the window was created.
uint32_t gompi_lock_release_failed(struct gompi_win *w, int rank);

// Notifies the waiters in the queue that the lock may be free or that another ticket has its turn. The caller's last
// action before this call must be a seq_cst read-modify-write, which serves as the full fence of the wake-up.
void gompi_wake_lock_waiters(struct gompi_win_member *m);

// Releases the lock of the memory of `rank` and notifies the waiters in the queue, in any job.
void gompi_unlock_any(struct gompi_win *w, int rank, bool exclusive);
// Releases the lock as gompi_unlock_any does, in a job that is not fault-tolerant.
static inline void gompi_unlock(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	// seq_cst, hence a release: all accesses of this process under the lock come before it
	uint64_t was = gompi_sub_seq_cst(&m->lock, exclusive ? LOCK_WRITER : 1);
	if (__builtin_expect(was >= LOCK_QUEUED, 0))
		gompi_wake_lock_waiters(m);
}

#pragma GCC visibility pop
#endif
