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
#ifndef GOMPI_ACCUMULATE_H
#define GOMPI_ACCUMULATE_H

#include "op.h"
#include "win.h"

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
	uint64_t seq = atomic_load_explicit(&mark->seq, memory_order_relaxed);
	atomic_store_explicit(&mark->seq, seq + 1, memory_order_relaxed);
	atomic_signal_fence(
		memory_order_seq_cst); // the processor's part of this fence is the membarrier in gompi_accumulate_lock
	if (__builtin_expect(atomic_load_explicit(&m->accumulate, memory_order_acquire) == 0, 1))
		return true;
	atomic_store_explicit(&mark->seq, seq + 2, memory_order_release);
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
	atomic_store_explicit(&mark->seq, atomic_load_explicit(&mark->seq, memory_order_relaxed) + 1,
			      memory_order_release);
}

// Takes the lock of rank's memory in w for plain updates of any size: from now on no other accumulate touches it. 0 or
// MPI_ERR_PROC_ABORTED.
int gompi_accumulate_lock(struct gompi_win *w, int rank);
// Gives it back; small says that the update would have been possible without the lock: after many of those the mode
// turns to SMALL.
void gompi_accumulate_unlock(struct gompi_win *w, int rank, bool small);

// Updates n elements at target with op, element by element atomic; what they were before goes to result unless that is
// NULL. Preconditions: between gompi_small_enter and _leave; target is aligned to the element.
typedef void (*gompi_atomic_kernel)(const void *origin, void *target, void *result, size_t n);

// Classes of elements with the same size and arithmetic; 0: no instruction covers them.
enum gompi_class {
	GOMPI_NONE,
	GOMPI_I8,
	GOMPI_U8,
	GOMPI_I16,
	GOMPI_U16,
	GOMPI_I32,
	GOMPI_U32,
	GOMPI_I64,
	GOMPI_U64,
	GOMPI_F32,
	GOMPI_F64,
	GOMPI_L8,
	GOMPI_L16,
	GOMPI_L32,
	GOMPI_L64,
	GOMPI_BYTE,
	GOMPI_CLASSES
};

extern const gompi_atomic_kernel gompi_atomic_kernels[GOMPI_OP_HANDLES][GOMPI_CLASSES];
// The same by row and column of op.h, only where the standard allows the pair. Filled in by gompi_type_describe.
extern gompi_atomic_kernel gompi_atomic_table[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS];

// The kernel for op on elements of a predefined type, NULL if there is none.
static inline gompi_atomic_kernel gompi_atomic(MPI_Op op, MPI_Datatype type) {
	uintptr_t o = (uintptr_t)op - GOMPI_OP_FIRST, t = (uintptr_t)type - GOMPI_OP_TYPE_FIRST;
	return o < GOMPI_OP_HANDLES && t < GOMPI_OP_TYPE_HANDLES
		       ? gompi_atomic_table[gompi_op_row[o]][gompi_op_column[t]]
		       : NULL;
}

// The same for a type of which gompi_simple is not 0.
static inline gompi_atomic_kernel gompi_atomic_simple(MPI_Op op, MPI_Datatype type) {
	uintptr_t o = (uintptr_t)op - GOMPI_OP_FIRST;
	return __builtin_expect(o < GOMPI_OP_HANDLES, 1)
		       ? gompi_atomic_table[gompi_op_row[o]][gompi_op_column[(uintptr_t)type - GOMPI_OP_TYPE_FIRST]]
		       : NULL;
}

// Tells the fast paths of a predefined type: bytes, whether it has no holes, class of its elements, whether
// MPI_Compare_and_swap takes it.
void gompi_type_describe(uintptr_t handle, int size, bool simple, int class, bool swappable);

#endif
