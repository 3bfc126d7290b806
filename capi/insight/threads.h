// Synchronization between the threads of a rank, which --check must know. This library interposes the functions of the
// C library and of gcc's libgomp that synchronize threads (thread_calls.c, openmp.c). It records which thread releases
// and acquires which object (threads.c). The real function is always called; the code here only adds records.
//
// A release is recorded before the real function is called, an acquire after it. So in the ring of the rank each record
// follows the records on which it depends. Calls inside MPI are not recorded. Threads that were created by the MPI
// library, or by a runtime that synchronizes its own threads, are not tracked (is_tracked). The check treats calls and
// accesses of untracked threads as ordered, in the order in which they are recorded.
//
// Most synchronization adds no information, for example a mutex that protects no MPI call. So each thread and object
// has a vector clock: the calls and accesses after which it is ordered, as counts per thread. An event that would not
// change a vector clock is not recorded. A clock in this process is advanced only after the record is in the ring, so
// it is never ahead of the corresponding clock in gompirun. Therefore an omitted event would not have changed
// gompirun's clock either.
#ifndef GOMPI_INSIGHT_THREADS_H
#define GOMPI_INSIGHT_THREADS_H

#include "insight/record.h"

enum { GOMPI_THREADS_CLOCK_SIZE = 64 };

// A vector clock. For each clock index it holds the number of clock steps, of the thread with that index, after which a
// thread or object is ordered.
struct gompi_threads_clock {
	uint32_t counts[GOMPI_THREADS_CLOCK_SIZE];
};

// State of a thread. The comments name kinds of events (core/insight/threads.go): ENTER orders the later actions of
// the thread after the FORK of an object; DROP states that no thread enters the object any more.
struct gompi_threads_self {
	bool is_tracked;        // the start of the thread or of its region is known; else its events are not recorded
	bool has_activity;      // the thread has called MPI, or its accesses have been recorded, since its last release
	bool fork_is_current;   // the last fork is still valid: the thread has done nothing since then
	bool drop_on_enter;     // the ENTER event of pending_enter is followed by a DROP event of the same object
	int clock_index;        // index in vector clocks + 1; 0 if not assigned yet; -1 if none was free
	uint64_t pending_enter; // object whose ENTER event must precede the next record; 0 if none
	uint64_t pending_drop;  // object whose DROP event must precede the next record; 0 if none
	uint64_t chunk_object;  // object of the unordered chunks of this thread; 0 if it has none
	enum { GOMPI_THREADS_NO_CHUNK, GOMPI_THREADS_CHUNK_BEGINS, GOMPI_THREADS_IN_CHUNK } chunk_state;
	bool has_chunks; // a chunk has been recorded
	struct gompi_threads_clock clock;
};
extern _Thread_local struct gompi_threads_self gompi_threads_self __attribute__((tls_model("initial-exec")));

extern gompi_a32 gompi_threads_extra_count; // number of threads and regions in addition to the first thread
extern gompi_a32 gompi_threads_enabled;     // 1 if the process is checked and may have several threads

static inline bool gompi_threads_is_checked(void) {
	return gompi_insight_job != NULL && gompi_insight_job->mode & GOMPI_INSIGHT_MODE_ACCESSES;
}

// Returns true if the events of this thread are to be recorded now.
static inline bool gompi_threads_is_watched(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	return __builtin_expect(gompi_load(&gompi_threads_enabled) != 0, 0) && gompi_threads_self.is_tracked &&
	       (t->is_outermost || t->frame == 0);
}

// Returns true if there are several threads, so that memory that one thread frees may be reused by another.
static inline bool gompi_threads_share_memory(void) {
	return __builtin_expect(gompi_load(&gompi_threads_extra_count) != 0, 0) && gompi_threads_is_watched();
}

// Returns true if the events of this thread are to be recorded, and enables recording. Called by a thread that is about
// to create another thread.
static inline bool gompi_threads_enable(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	if (!gompi_threads_is_checked() || !gompi_threads_self.is_tracked || !(t->is_outermost || t->frame == 0))
		return false;
	gompi_store(&gompi_threads_enabled, 1);
	return true;
}

// Records that the thread releases or acquires an object, if it is watched.
void gompi_threads_release(uintptr_t object);
void gompi_threads_acquire(uintptr_t object);

// A fork: the point of a thread after which activities of other threads begin. Each of these activities enters the
// object of the fork: its ENTER event orders it after the fork.
struct gompi_threads_fork {
	uint64_t object;
	struct gompi_threads_clock clock;
};
void gompi_threads_fork(struct gompi_threads_fork *fork, uint64_t object);

// gompi_threads_enter begins an activity that is ordered only after `fork`. If `drops` is true, the fork's object is
// dropped after this activity has entered it. gompi_threads_leave ends the activity; a thread that then acquires object
// is ordered after the activity.
void gompi_threads_enter(const struct gompi_threads_fork *fork, bool drops);
void gompi_threads_leave(uintptr_t object);

// gompi_threads_next_chunk ends the current chunk and, if has_next is true, begins another chunk. Chunks of one thread
// are not ordered with each other. Example: iterations of a loop that any idle thread may execute.
// gompi_threads_end_chunks ends the last chunk.
void gompi_threads_next_chunk(bool has_next);
void gompi_threads_end_chunks(void);

// Returns true if the thread has written a record since gompi_threads_enter.
bool gompi_threads_has_entered(void);

// Saves (gompi_threads_suspend) or restores (gompi_threads_resume) the state of a thread that interrupts its activity
// to enter another activity.
void gompi_threads_suspend(struct gompi_threads_self *outer);
void gompi_threads_resume(const struct gompi_threads_self *outer);

// gompi_threads_end_thread ends the activity of a thread that is about to end, and releases the object `thread`, which
// represents the thread itself. The thread is included in gompi_threads_extra_count until gompi_threads_join, because
// activities of other threads may conflict with it until then.
void gompi_threads_end_thread(uintptr_t thread);
void gompi_threads_join(uintptr_t thread);

// Begins or ends a region (a parallel region of OpenMP). The threads of a region, which include the calling thread, are
// reused by other regions. A region without events writes no record.
void gompi_threads_begin_region(struct gompi_threads_fork *fork);
void gompi_threads_end_region(uintptr_t object);

// Writes a drop record: no thread will enter the object after it.
void gompi_threads_drop(uint64_t object);

// Disables the omission of events: every later event is recorded.
void gompi_threads_record_all(void);

// Returns a unique object number, which differs from all addresses.
uint64_t gompi_threads_new_object(void);

// gompi_threads_note_memory notes that a record refers to a memory range. gompi_threads_free_memory records that a
// range is freed, if a record may refer to it.
void gompi_threads_note_memory(uintptr_t low, uintptr_t size);
void gompi_threads_free_memory(uintptr_t low, uintptr_t size);

// gompi_threads_set_barrier records the number of threads of a barrier. gompi_threads_barrier_round returns the object
// that the threads of the current round release and acquire.
void gompi_threads_set_barrier(uintptr_t barrier, unsigned count);
uintptr_t gompi_threads_barrier_round(uintptr_t barrier);

// gompi_threads_set_writer notes that the thread holds a lock exclusively. gompi_threads_clear_writer returns true if
// the thread held the lock exclusively, and clears the note.
void gompi_threads_set_writer(uintptr_t lock);
bool gompi_threads_clear_writer(uintptr_t lock);

// Writes the pending events. Called before a call of MPI is recorded.
void gompi_threads_before_call(struct gompi_insight_thread *t);

// Returns the next function with this name, in the given symbol version if that version exists.
void *gompi_threads_find_next(_Atomic(void *) *next, const char *name, const char *version);
#define GOMPI_REAL(name, version)                                                                           \
	({                                                                                                  \
		static _Atomic(void *) found;                                                               \
		void *next = gompi_load(&found);                                                            \
		(__typeof__(&name))(next != NULL ? next : gompi_threads_find_next(&found, #name, version)); \
	})

#endif
