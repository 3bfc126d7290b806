// Synchronization between the threads of a rank, which --check must know. This library interposes the functions of the
// C library and of gcc's libgomp that synchronize threads (thread_calls.c, openmp.c), and records which thread releases
// and acquires which object (threads.c). The real function is always called; the code here only adds records.
//
// A release is recorded before the real function is called, an acquire after it. So in the ring of the rank each record
// follows the records on which it depends. Calls inside MPI are not recorded. Neither are threads that were created by
// the library, or by a runtime that synchronizes its threads by itself: they are not `seen`, and their accesses count
// in the order of their calls.
//
// Most synchronization adds no information, such as a mutex that protects no MPI call. So each thread and object keeps
// a vector clock: the calls and accesses that it is ordered after, as counts per thread. An event that would not change
// a vector clock is not recorded. A clock here is raised only after the record is in the ring. So it is never ahead of
// gompirun's clock, and an omitted event would not have changed anything there.
#ifndef GOMPI_INSIGHT_THREADS_H
#define GOMPI_INSIGHT_THREADS_H

#include "insight/record.h"

enum { GOMPI_THREADS_SLOTS = 64 };

// A vector clock: how much of each thread something is ordered after.
struct gompi_threads_known {
	uint32_t of[GOMPI_THREADS_SLOTS];
};

struct gompi_threads_self {
	bool seen;         // the beginning of this thread, or of its region, is known
	bool worked;       // it has called MPI, or its accesses have been recorded, since its last release
	bool forked;       // a thread that enters its region is ordered after all that it has done
	bool drops;        // drop `entering` after it has been entered
	int slot;          // index in vector clocks + 1; 0 if not assigned yet; -1 if there was no room
	uint64_t entering; // object to enter before the next record; 0 if none
	uint64_t dropping; // object to drop then; 0 if none
	uint64_t parts;    // object of the unordered parts of this thread; 0 if it has none
	enum { GOMPI_THREADS_BETWEEN, GOMPI_THREADS_BEGINS, GOMPI_THREADS_WITHIN } part;
	bool parted; // a part has been recorded
	struct gompi_threads_known known;
};
extern _Thread_local struct gompi_threads_self gompi_threads_self __attribute__((tls_model("initial-exec")));

extern gompi_a32 gompi_threads_several; // number of threads and regions in addition to the first thread
extern gompi_a32 gompi_threads_on;      // the process is checked, and may have several threads

static inline bool gompi_threads_checked(void) {
	return gompi_insight_job != NULL && gompi_insight_job->mode & GOMPI_INSIGHT_MODE_ACCESSES;
}

// Returns true if the events of this thread are to be recorded now.
static inline bool gompi_threads_watched(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	return __builtin_expect(gompi_load(&gompi_threads_on) != 0, 0) && gompi_threads_self.seen &&
	       (t->open || t->frame == 0);
}

// Returns true if there are several threads, so that memory that one thread frees may be reused by another.
static inline bool gompi_threads_share_memory(void) {
	return __builtin_expect(gompi_load(&gompi_threads_several) != 0, 0) && gompi_threads_watched();
}

// Returns true if the events of this thread are to be recorded, and enables recording. Called by a thread that is about
// to create another one.
static inline bool gompi_threads_begin(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	if (!gompi_threads_checked() || !gompi_threads_self.seen || !(t->open || t->frame == 0))
		return false;
	gompi_store(&gompi_threads_on, 1);
	return true;
}

// Records that the thread releases or acquires an object, if it is watched.
void gompi_threads_release(uintptr_t object);
void gompi_threads_acquire(uintptr_t object);

// A fork: the point of a thread after which other activities begin. They enter its object.
struct gompi_threads_fork {
	uint64_t object;
	struct gompi_threads_known known;
};
void gompi_threads_fork(struct gompi_threads_fork *fork, uint64_t object);

// gompi_threads_enter makes the thread continue ordered after fork only, until it leaves. After gompi_threads_leave, a
// thread that acquires object is ordered after what it has done.
void gompi_threads_enter(const struct gompi_threads_fork *fork, bool drops);
void gompi_threads_leave(uintptr_t object);

// Marks the following activity of the thread as parts that are not ordered with each other. Example: iterations of a
// loop that any free thread may execute; that one thread executes two of them is chance. more: there is another part.
void gompi_threads_next_part(bool more);
void gompi_threads_end_parts(void);

// Returns true if the thread has recorded something since it entered.
bool gompi_threads_entered(void);

// Saves or restores the state of a thread that interrupts its activity to enter another one.
void gompi_threads_suspend(struct gompi_threads_self *outer);
void gompi_threads_resume(const struct gompi_threads_self *outer);

// gompi_threads_end leaves at the end of a thread; the thread itself is the object. The thread counts as one of several
// until gompi_threads_joined: activities of other threads may conflict with it until then.
void gompi_threads_end(uintptr_t thread);
void gompi_threads_joined(uintptr_t thread);

// Begins or ends a region of reused threads, of which the calling thread is one. Regions without records cost no
// record.
void gompi_threads_begin_region(struct gompi_threads_fork *fork);
void gompi_threads_end_region(uintptr_t object);

// Records that no thread enters the object any more.
void gompi_threads_drop(uint64_t object);

// Disables the omission of events: from now on all are recorded.
void gompi_threads_write_all(void);

// Returns a unique object number, which is not an address either.
uint64_t gompi_threads_new_object(void);

// gompi_threads_note_memory notes that a record concerns a memory range. gompi_threads_free records that a range is
// freed.
void gompi_threads_note_memory(uintptr_t low, uintptr_t size);
void gompi_threads_free(uintptr_t low, uintptr_t size);

// gompi_threads_set_barrier records the number of threads of a barrier. gompi_threads_round returns the object that the
// threads of the current round release and acquire.
void gompi_threads_set_barrier(uintptr_t barrier, unsigned count);
uintptr_t gompi_threads_round(uintptr_t barrier);

// gompi_threads_write_locks notes that the thread holds a lock exclusively. gompi_threads_write_unlocks clears that,
// and returns true if it was so.
void gompi_threads_write_locks(uintptr_t lock);
bool gompi_threads_write_unlocks(uintptr_t lock);

// Records what must precede a call of MPI. Called before the call is recorded.
void gompi_threads_work(struct gompi_insight_thread *t);

// Returns the next function of a name, in the given version if it exists.
void *gompi_threads_find(_Atomic(void *) *next, const char *name, const char *version);
#define GOMPI_REAL(name, version)                                                                      \
	({                                                                                             \
		static _Atomic(void *) found;                                                          \
		void *next = gompi_load(&found);                                                       \
		(__typeof__(&name))(next != NULL ? next : gompi_threads_find(&found, #name, version)); \
	})

#endif
