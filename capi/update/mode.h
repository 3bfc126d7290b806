// Mutual atomicity of accumulate-type calls on one member's window memory (MPI-5.0 12.7.1).
//
// A member's memory is in one of three modes, told by its `accumulate` word in shared memory:
//
//	0            SMALL: each element is updated by its own atomic instruction, by any number of threads at once
//	BULK bit     every accumulate takes the lock in this word and then works with plain, vectorized loops
//	a claim      OWNED: the thread with this claim works so without taking the lock; all others take it first
//
// A small update costs two plain stores and a load besides its atomic instruction: it marks its thread's line in shared
// memory, looks at the word, updates, and takes the mark away. Who turns SMALL into BULK pays for both: after it has
// set the word it calls membarrier(2), which is a full barrier in every running process, and waits until no mark is set
// that could have been set before. Turning back is free: it happens under the lock. Elements that no instruction covers
// (over 8 bytes, pair types, misaligned) never go one by one. docs/RATIONALE.md has the measurements.
//
// An owner does what a small update does: it marks its line, looks whether the word is still its claim, updates. Who
// takes the lock from it pays as for SMALL, and waits for the mark of the owner alone. So the memory is given to a
// thread only while no other wants it: for its first update, and then after the more in a row the more often the lock
// went from one thread to another of late.
#ifndef GOMPI_MODE_H
#define GOMPI_MODE_H

#include "win/win.h"

enum {
	ACCUMULATE_BULK = 1,
	ACCUMULATE_LOCKED = 2,
	ACCUMULATE_SLEEPERS = 4, // somebody sleeps on the word
	ACCUMULATE_OWNED = 8,    // the rest is the owner's index on the node and that of its line
	ACCUMULATE_OWNER_SHIFT = 4,
	ACCUMULATE_CONTENDED = 64, // turns from which on several elements had better go one by one
};

// This thread's line, NULL until its first accumulate and for threads beyond GOMPI_MARK_SLOTS, which always take the
// lock.
extern _Thread_local struct gompi_mark *gompi_my_mark __attribute__((tls_model("initial-exec")));

// What the word is while this thread owns the memory; 0 for threads without a line.
extern _Thread_local uint32_t gompi_my_claim __attribute__((tls_model("initial-exec")));

// Gives this thread a line if there is one left.
void gompi_mark_get(void);
// Takes all threads' lines back, before there is another node; no thread is in an update.
void gompi_marks_forget(void);

// Returns true if this thread, if it has a line, may update elements of m's memory one by one now; then
// gompi_small_leave must follow soon, without waiting for anything in between.
static inline bool gompi_small_enter_marked(struct gompi_win_member *m) {
	struct gompi_mark *mark = gompi_my_mark;
	if (__builtin_expect(mark == NULL, 0))
		return false;
	uint64_t seq = gompi_load(&mark->seq);
	gompi_store(&mark->seq, seq + 1);
	gompi_compiler_fence(); // the processor's part of this fence is the membarrier in gompi_accumulate_lock
	if (__builtin_expect(gompi_load_acquire(&m->accumulate) == 0, 1))
		return true;
	gompi_store_release(&mark->seq, seq + 2);
	return false;
}

// How a thread may update the memory now.
enum gompi_hold {
	HOLD_NOTHING,
	HOLD_MARK, // one by one, in SMALL mode
	HOLD_OWN,  // by plain loops, as its owner
	HOLD_LOCK, // the same, with the lock
};

// The same for who can do with ownership as well, and gives the thread a line if it has none: unless it returns
// HOLD_NOTHING gompi_small_leave must follow soon.
static inline enum gompi_hold gompi_update_enter(struct gompi_win_member *m) {
	if (__builtin_expect(gompi_my_mark == NULL, 0))
		gompi_mark_get();
	struct gompi_mark *mark = gompi_my_mark;
	if (mark == NULL)
		return HOLD_NOTHING;
	uint64_t seq = gompi_load(&mark->seq);
	gompi_store(&mark->seq, seq + 1);
	gompi_compiler_fence(); // as above
	uint32_t word = gompi_load_acquire(&m->accumulate);
	if (word == gompi_my_claim)
		return HOLD_OWN;
	if (word == 0)
		return HOLD_MARK;
	gompi_store_release(&mark->seq, seq + 2);
	return HOLD_NOTHING;
}

static inline void gompi_small_leave(void) {
	struct gompi_mark *mark = gompi_my_mark;
	// release: the updates are over before the mark is gone; pairs with the acquire in gompi_accumulate_lock
	gompi_store_release(&mark->seq, gompi_load(&mark->seq) + 1);
}

// An owner's memory is in SMALL mode from now on.
void gompi_owner_gives_up(struct gompi_win_member *m);
// What an owner does after an update, before gompi_small_leave: after many small ones, which cost it some 5 ns more
// than in SMALL mode, it gives the memory up.
enum { OWNERS_IN_A_ROW = 4096 };
static inline void gompi_owner_updated(struct gompi_win_member *m, bool small) {
	uint32_t count = small ? gompi_load(&m->accumulate_small) + 1 : 0;
	gompi_store(&m->accumulate_small, count);
	if (__builtin_expect(count >= OWNERS_IN_A_ROW, 0))
		gompi_owner_gives_up(m);
}

// Returns true if several threads update the memory by turns, so that what instructions can do had better need no
// lock.
static inline bool gompi_contended(struct gompi_win_member *m) {
	return gompi_load(&m->accumulate_turns) >= ACCUMULATE_CONTENDED;
}

// Takes the lock of rank's memory in w for plain updates of any size: from now on no other accumulate touches it. 0 or
// MPI_ERR_PROC_ABORTED.
int gompi_accumulate_lock(struct gompi_win *w, int rank);
// Gives it back; small says that the update would have been possible without the lock: after many of those the mode
// turns to SMALL.
void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small);

#endif
