// What orders the threads of a rank, which --check must know: this library stands before the functions of the C library
// and of gcc's libgomp that do so (thread_calls.c, openmp.c), and writes down who releases and acquires which object
// (threads.c). The real function is always called; what is here adds a record at most.
//
// A release is written down before the real function is called, an acquire behind it, so in the ring of the rank each
// is behind what it depends on. Within calls of MPI nothing is, nor of threads that the library or a runtime that
// orders its threads by itself has made: these are not `seen`, and count in the order of their calls.
//
// Most synchronization says nothing new: a mutex that protects no call of MPI. So each thread and object knows here
// which calls and accesses it comes after, as numbers of their threads, and what would not change that is not written
// down. What a thread or an object knows here it surely knows in gompirun as well, since it is raised when the record
// is in the ring; so an event that is left out would not have changed anything there either.
#ifndef GOMPI_INSIGHT_THREADS_H
#define GOMPI_INSIGHT_THREADS_H

#include "insight/record.h"

enum { GOMPI_THREADS_SLOTS = 64 };

// What of each thread something comes after.
struct gompi_threads_known {
	uint32_t of[GOMPI_THREADS_SLOTS];
};

struct gompi_threads_self {
	bool seen;         // it is known how this thread, or the region that it is in, began
	bool worked;       // it has called MPI, or its accesses have been recorded, since its last release
	bool forked;       // what enters its region comes after all that it has done
	bool drops;        // entering is dropped then
	int slot;          // of this thread in what is known; 0: none yet, else one more
	uint64_t entering; // to be entered before anything else is recorded; 0: nothing
	uint64_t dropping; // to be dropped then
	uint64_t parts;    // what the thread does is in parts that nothing orders; 0: it is not
	enum { GOMPI_THREADS_BETWEEN, GOMPI_THREADS_BEGINS, GOMPI_THREADS_WITHIN } part;
	bool parted; // something has been recorded of a part
	struct gompi_threads_known known;
};
extern _Thread_local struct gompi_threads_self gompi_threads_self __attribute__((tls_model("initial-exec")));

extern gompi_a32 gompi_threads_several; // how many threads and regions there are beside the first thread
extern gompi_a32 gompi_threads_on;      // the process is checked, and may have several threads

static inline bool gompi_threads_checked(void) {
	return gompi_insight_job != NULL && gompi_insight_job->mode & GOMPI_INSIGHT_MODE_ACCESSES;
}

// Returns true if what this thread does now is to be known.
static inline bool gompi_threads_watched(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	return __builtin_expect(gompi_load(&gompi_threads_on) != 0, 0) && gompi_threads_self.seen &&
	       (t->open || t->frame == 0);
}

// Returns true if there are several threads, so that memory that one gives back another one may get.
static inline bool gompi_threads_share_memory(void) {
	return __builtin_expect(gompi_load(&gompi_threads_several) != 0, 0) && gompi_threads_watched();
}

// The same before there are several threads, which this thread is about to make.
static inline bool gompi_threads_begin(void) {
	const struct gompi_insight_thread *t = &gompi_insight_self;
	if (!gompi_threads_checked() || !gompi_threads_self.seen || !(t->open || t->frame == 0))
		return false;
	gompi_store(&gompi_threads_on, 1);
	return true;
}

// The thread releases or acquires an object, if it is watched.
void gompi_threads_release(uintptr_t object);
void gompi_threads_acquire(uintptr_t object);

// What is to come after this moment of this thread enters it.
struct gompi_threads_fork {
	uint64_t object;
	struct gompi_threads_known known;
};
void gompi_threads_fork(struct gompi_threads_fork *fork, uint64_t object);

// The thread goes on with what comes after fork alone; when it has left that, who acquires object comes after it.
void gompi_threads_enter(const struct gompi_threads_fork *fork, bool drops);
void gompi_threads_leave(uintptr_t object);

// What the thread does from here on are parts that nothing orders, such as steps of a loop which come to whichever
// thread is free: that they came to one is chance. more: there is a part to be done.
void gompi_threads_next_part(bool more);
void gompi_threads_end_parts(void);

// Returns true if something of it has been recorded.
bool gompi_threads_entered(void);

// A thread stops what it does to enter something else, and goes on with it when it has left that.
void gompi_threads_suspend(struct gompi_threads_self *outer);
void gompi_threads_resume(const struct gompi_threads_self *outer);

// The same as leave at the end of the thread, which is an object itself. It counts among several until it is joined:
// what others do then may conflict with what it has done.
void gompi_threads_end(uintptr_t thread);
void gompi_threads_joined(uintptr_t thread);

// The same for a region of threads that are made once, and of which the thread itself is one. Many regions in which
// nothing is recorded cost no record.
void gompi_threads_begin_region(struct gompi_threads_fork *fork);
void gompi_threads_end_region(uintptr_t object);

// Nothing enters the object any longer.
void gompi_threads_drop(uint64_t object);

// From now on all is written down.
void gompi_threads_write_all(void);

// Returns a number that nothing else has: no address either.
uint64_t gompi_threads_new_object(void);

// Memory is in a record; it is given back.
void gompi_threads_note_memory(uintptr_t low, uintptr_t size);
void gompi_threads_free(uintptr_t low, uintptr_t size);

// A barrier of so many threads is made. Returns what those of this round release and acquire.
void gompi_threads_set_barrier(uintptr_t barrier, unsigned count);
uintptr_t gompi_threads_round(uintptr_t barrier);

// The thread has a lock alone; returns true if it had, and no longer has.
void gompi_threads_write_locks(uintptr_t lock);
bool gompi_threads_write_unlocks(uintptr_t lock);

// Before a call of MPI is recorded.
void gompi_threads_work(struct gompi_insight_thread *t);

// The next function of a name, in a version if it has that.
void *gompi_threads_find(_Atomic(void *) *next, const char *name, const char *version);
#define GOMPI_REAL(name, version)                                                                      \
	({                                                                                             \
		static _Atomic(void *) found;                                                          \
		void *next = gompi_load(&found);                                                       \
		(__typeof__(&name))(next != NULL ? next : gompi_threads_find(&found, #name, version)); \
	})

#endif
