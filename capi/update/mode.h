// Mutual atomicity of accumulate-type calls on one member's window memory (MPI-5.0 12.7.1).
//
// A member's memory is in one of two modes, told by its `accumulate` word in shared memory:
//
//	0            SMALL: each element is updated by its own atomic instruction, by any number of threads at once
//	BULK bit     every accumulate takes the lock in this word and then works with plain, vectorized loops
//
// A small update costs two plain stores and a load besides its atomic instruction: it marks its thread's line in shared
// memory, looks at the word, updates, and takes the mark away. Who turns SMALL into BULK pays for both: after it has
// set the word it calls membarrier(2), which is a full barrier in every running process, and waits until no mark is set
// that could have been set before. Turning back is free: it happens under the lock. Elements that no instruction covers
// (over 8 bytes, pair types, misaligned) always take the lock. docs/RATIONALE.md has the measurements.
#ifndef GOMPI_MODE_H
#define GOMPI_MODE_H

#include "win/win.h"

enum {
	ACCUMULATE_BULK = 1,
	ACCUMULATE_LOCKED = 2,
	ACCUMULATE_SLEEPERS = 4, // somebody sleeps on the word
};

// This thread's line, NULL until its first accumulate and for threads beyond GOMPI_MARK_SLOTS, which always take the
// lock.
extern _Thread_local struct gompi_mark *gompi_my_mark __attribute__((tls_model("initial-exec")));

// Gives this thread a line if there is one left.
void gompi_mark_get(void);

// Whether this thread, if it has a line, may update elements of m's memory one by one now; then gompi_small_leave must
// follow soon, without waiting for anything in between.
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

// The same, and gives the thread a line if it has none.
static inline bool gompi_small_enter(struct gompi_win_member *m) {
	if (__builtin_expect(gompi_my_mark == NULL, 0))
		gompi_mark_get();
	return gompi_small_enter_marked(m);
}

static inline void gompi_small_leave(void) {
	struct gompi_mark *mark = gompi_my_mark;
	// release: the updates are over before the mark is gone; pairs with the acquire in gompi_accumulate_lock
	gompi_store_release(&mark->seq, gompi_load(&mark->seq) + 1);
}

// Takes the lock of rank's memory in w for plain updates of any size: from now on no other accumulate touches it. 0 or
// MPI_ERR_PROC_ABORTED.
int gompi_accumulate_lock(struct gompi_win *w, int rank);
// Gives it back; small says that the update would have been possible without the lock: after many of those the mode
// turns to SMALL.
void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small);

#endif
