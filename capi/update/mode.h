// Mutual atomicity of accumulate-type calls on one member's window memory (MPI-5.0 12.7.1).
//
// The memory of a member is in one of three modes. Its word accumulate_state in shared memory holds the mode:
//
//	0         SMALL: each element is updated by its own atomic instruction, by any number of threads at once.
//	BULK bit  Every accumulate acquires the lock in this word and then uses plain, vectorized loops.
//	Owner id  OWNED: the thread with this id uses plain loops without the lock; other threads must acquire the lock.
//
// A small update costs two plain stores and a load in addition to its atomic instruction. It sets the activity flag of
// its thread in shared memory, checks the word, updates, and clears the flag. The thread that changes SMALL to BULK
// bears the cost of the ordering. After this thread has set the word, it calls membarrier(2), which is a full barrier
// in every running process. Then it waits until every flag that may have been set before the barrier is cleared. The
// change back needs no barrier, because the lock holder makes it. Elements that no instruction covers (over 8 bytes,
// pair types, misaligned) always need the lock or ownership. docs/RATIONALE.md has the measurements.
//
// An owner acts like a small update: it sets its activity flag, checks that the word still is its owner id, and
// updates. A thread that revokes the ownership by acquiring the lock calls membarrier(2) too, but waits only for the
// owner's flag. Because a revocation is expensive, a thread becomes the owner only while no other thread uses the
// memory: at its first update, and later after a number of consecutive updates. The more ownership transfers happened
// recently, the more updates are required.
#ifndef GOMPI_MODE_H
#define GOMPI_MODE_H

#include "win/win.h"

enum {
	ACCUMULATE_BULK = 1,
	ACCUMULATE_LOCKED = 2,
	ACCUMULATE_SLEEPERS = 4, // a thread sleeps on the word
	// If ACCUMULATE_OWNED is set, the bits from ACCUMULATE_OWNER_SHIFT on identify the owner: index of its process
	// on the node * GOMPI_ACTIVITY_SLOTS + index of its activity flag. If ACCUMULATE_LOCKED is set, they identify
	// the process of the lock holder in the same way, with the index 0 of a flag.
	ACCUMULATE_OWNED = 8,
	ACCUMULATE_OWNER_SHIFT = 4,
	CONTENDED_MIN_TRANSFERS = 64, // value of accumulate_transfers from which gompi_is_contended returns true
};

// The activity flag of this thread. NULL until its first accumulate, and for threads beyond GOMPI_ACTIVITY_SLOTS, which
// always acquire the lock.
extern _Thread_local struct gompi_activity *gompi_my_activity __attribute__((tls_model("initial-exec")));

// Holds the owner id of this thread: the value of accumulate_state while this thread owns the memory; 0 for threads
// without an activity flag.
extern _Thread_local uint32_t gompi_my_owner_id __attribute__((tls_model("initial-exec")));

// Assigns a free activity flag to this thread, if there is one.
void gompi_activity_acquire(void);
// Releases the activity flags of all threads, before this process joins another node. No thread may be in an update.
void gompi_activities_release(void);

// Returns true if this thread has an activity flag and may update elements of m's memory one by one. If so, the caller
// must call gompi_unlocked_update_end soon, without blocking in between.
static inline bool gompi_atomic_update_begin(struct gompi_win_member *m) {
	struct gompi_activity *activity = gompi_my_activity;
	if (__builtin_expect(activity == NULL, 0))
		return false;
	uint64_t seq = gompi_load(&activity->seq);
	gompi_store(&activity->seq, seq + 1);
	gompi_compiler_fence(); // pairs with the membarrier(2) in gompi_accumulate_lock, which is the CPU fence
	if (__builtin_expect(gompi_load_acquire(&m->accumulate_state) == 0, 1))
		return true;
	gompi_store_release(&activity->seq, seq + 2);
	return false;
}

// How a thread may update the memory at present.
enum gompi_hold {
	HOLD_NOTHING,
	HOLD_ACTIVITY, // by atomic instructions, in SMALL mode, with the thread's activity flag set
	HOLD_OWNER,    // by plain loops, as the owner
	HOLD_LOCK,     // by plain loops, with the lock
};

// Tries to start an update in SMALL mode or as the owner; assigns an activity flag to the thread if it has none. Unless
// the result is HOLD_NOTHING, the caller must call gompi_unlocked_update_end soon.
static inline enum gompi_hold gompi_unlocked_update_begin(struct gompi_win_member *m) {
	if (__builtin_expect(gompi_my_activity == NULL, 0))
		gompi_activity_acquire();
	struct gompi_activity *activity = gompi_my_activity;
	if (activity == NULL)
		return HOLD_NOTHING;
	uint64_t seq = gompi_load(&activity->seq);
	gompi_store(&activity->seq, seq + 1);
	gompi_compiler_fence(); // as in gompi_atomic_update_begin
	uint32_t word = gompi_load_acquire(&m->accumulate_state);
	if (word == gompi_my_owner_id)
		return HOLD_OWNER;
	if (word == 0)
		return HOLD_ACTIVITY;
	gompi_store_release(&activity->seq, seq + 2);
	return HOLD_NOTHING;
}

// Ends an update in SMALL mode or as the owner.
static inline void gompi_unlocked_update_end(void) {
	struct gompi_activity *activity = gompi_my_activity;
	// release: the updates come before the flag is cleared; pairs with the acquire in wait_for_activity (mode.c)
	gompi_store_release(&activity->seq, gompi_load(&activity->seq) + 1);
}

// Releases this thread's ownership of m's memory, which changes to SMALL mode.
void gompi_owner_release(struct gompi_win_member *m);
// Counts an update by the owner. It must be called before gompi_unlocked_update_end. A small update costs an owner some
// 5 ns more than in SMALL mode, so the owner gives up the ownership after MAX_OWNER_SMALL_STREAK consecutive small
// updates.
enum { MAX_OWNER_SMALL_STREAK = 4096 };
static inline void gompi_owner_count_update(struct gompi_win_member *m, bool small) {
	uint32_t count = small ? gompi_load(&m->accumulate_small_streak) + 1 : 0;
	gompi_store(&m->accumulate_small_streak, count);
	if (__builtin_expect(count >= MAX_OWNER_SMALL_STREAK, 0))
		gompi_owner_release(m);
}

// Returns true if several threads update the memory alternately. Atomic instructions, where they exist for the
// elements, are then faster than the lock.
static inline bool gompi_is_contended(struct gompi_win_member *m) {
	return gompi_load(&m->accumulate_transfers) >= CONTENDED_MIN_TRANSFERS;
}

// Acquires the lock of the memory of `rank` in w for plain updates of any size. No other accumulate accesses the memory
// until the unlock. Blocks. Returns 0 or MPI_ERR_PROC_ABORTED.
int gompi_accumulate_lock(struct gompi_win *w, int rank);
// Releases the lock. `small` is true if the update would have been possible without the lock. After many consecutive
// small updates the mode changes to SMALL. Otherwise this thread becomes the owner after enough consecutive updates of
// its own, or the mode stays BULK.
void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small);

#endif
