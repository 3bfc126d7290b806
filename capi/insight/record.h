// libgompirma-insight.so: wrappers of all functions of the ABI (z_*.c), which write down what passes for gompirun to
// read: of MPI_X, and of PMPI_X for programs that call that themselves, or define MPI_X and call it there. This library
// is preloaded and stands before the one that implements MPI: it is no part of that, knows nothing of it but mpi_rma.h,
// and what is recorded means nothing to it. The form of a record is documented in core/insight.
//
// A wrapper calls the next function of its name in the order of the loader (next.c), so that another tool may stand
// behind it. What is called within a call, by a wrapper, by MPI, or by a function that the application gave to MPI, is
// not recorded: one call of the application is one record.
//
// Words in shared memory that are written here: all of the rank's part but its tail and the ring behind that, which
// gompirun makes zero; bell and sleeping of the job.
#ifndef GOMPI_INSIGHT_RECORD_H
#define GOMPI_INSIGHT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOMPIRMA_NO_INLINE
#pragma GCC visibility push(default) // the wrappers
#include "mpi_rma.h"
#include "mpix_gompirma.h"
#pragma GCC visibility pop

#include "base/order.h"
#include "insight/z_layout.h"

// What the job has in common, and a rank's part: core/insight/layout.go.
struct gompi_insight_job {
	uint64_t magic;
	uint32_t version, mode, ranks;
	gompi_a32 bell, sleeping;
	uint32_t functions;
	uint64_t part_size, ring_size;
	_Alignas(64) gompi_a32 tick;
};
struct gompi_insight_object {
	uint64_t low, high, bias, name;
};
struct gompi_insight_window {
	gompi_a64 handle;
	int32_t leader;
	uint32_t members, ordinal, ways;
	char label[GOMPI_INSIGHT_LABEL_SIZE] __attribute__((aligned(8)));
};
struct gompi_insight_count {
	gompi_a64 calls, bytes, ticks;
	uint32_t left, stride;
};
struct gompi_insight_use {
	gompi_a64 calls, bytes, ticks;
};
struct gompi_insight_slot {
	struct gompi_insight_count functions[GOMPI_INSIGHT_MAX_FUNCTIONS];
	struct gompi_insight_use windows[GOMPI_INSIGHT_MAX_WINDOWS][GOMPI_INSIGHT_USES];
	_Alignas(4096) char end[];
};
struct gompi_insight_part {
	gompi_a32 pid, threads, others;
	gompi_a32 room, full;
	gompi_a32 objects, names, lost;
	uint64_t monotonic, realtime;
	_Alignas(64) gompi_a64 head;
	_Alignas(64) gompi_a64 tail;
	_Alignas(64) gompi_a64 dropped;
	gompi_a64 polls, broken;
	gompi_a64 answered;
	gompi_a32 conflicts, asking, answer;
	_Alignas(64) gompi_a64 ticks;
	gompi_a64 ticks_now, now, ended;
	gompi_a32 uncounted, windows;
	_Alignas(512) gompi_a32 owners[GOMPI_INSIGHT_SLOTS];
	_Alignas(1024) gompi_a64 later[GOMPI_INSIGHT_MAX_LATER];
	_Alignas(4096) struct gompi_insight_object table[GOMPI_INSIGHT_MAX_OBJECTS];
	char name[GOMPI_INSIGHT_NAMES_SIZE];
	struct gompi_insight_window window[GOMPI_INSIGHT_MAX_WINDOWS];
	struct MPIX_Gompirma_count ways[GOMPI_INSIGHT_MAX_WINDOWS][MPIX_GOMPIRMA_KINDS][MPIX_GOMPIRMA_WAYS];
	_Alignas(4096) struct gompi_insight_slot slots[GOMPI_INSIGHT_SLOTS];
	gompi_a64 ring[]; // mapped twice, so that no record has a gap
};

// Sizes of datatypes, and windows, that a thread has used. They hold while nothing of the kind has been freed.
enum { GOMPI_INSIGHT_TYPES = 64, GOMPI_INSIGHT_KNOWN = 8 };
extern gompi_a32 gompi_insight_age; // raised when a datatype or a window is freed
struct gompi_insight_type {
	MPI_Datatype type;
	uint32_t age;
	int64_t size;
};
struct gompi_insight_known {
	MPI_Win win;
	uint32_t age;
	struct gompi_insight_use *uses;
};

// A thread of the application.
struct gompi_insight_thread {
	bool open; // the next call is not within another one
	bool truncated;
	uint32_t mode;
	uint32_t number;
	uint32_t used;                       // words of the record
	uintptr_t frame;                     // of the wrapper that the thread is in
	void *back;                          // where that returns to
	uintptr_t low, size;                 // an object that is in the table, where the last caller was
	uintptr_t binding_low, binding_size; // the Fortran bindings, if they have called
	uint64_t *words;                     // the record, GOMPI_INSIGHT_MAX_RECORD of them
	uint64_t ends;                       // where the last one ends in the ring; 0: it was lost
	uintptr_t on;                        // window or communicator on which the call would raise it
	uint32_t conflicts;                  // the rank's, as far as the thread knows (raise.c)
	uint64_t stamp;                      // ticks when a call was measured last
	struct gompi_insight_slot *slot;     // NULL: the thread is not counted
	struct gompi_insight_known windows[GOMPI_INSIGHT_KNOWN];
	struct gompi_insight_type types[GOMPI_INSIGHT_TYPES];
};
extern _Thread_local struct gompi_insight_thread gompi_insight_self __attribute__((tls_model("initial-exec")));

extern const char *const gompi_insight_names[];
extern _Atomic(void *) gompi_insight_table[2][GOMPI_INSIGHT_FUNCTIONS]; // the next MPI_X, and the next PMPI_X
void *gompi_insight_find(int number, bool profiling);

static inline void *gompi_insight_next(int number, bool profiling) {
	void *next = gompi_load(&gompi_insight_table[profiling][number]);
	return next ? next : gompi_insight_find(number, profiling);
}
#define GOMPI_NEXT(number, profiling, name) ((__typeof__(name) *)gompi_insight_next(number, profiling))

// The body of two wrappers, which is inlined into both.
#define GOMPI_INSIGHT_BODY static inline __attribute__((always_inline)) int

bool gompi_insight_enter(struct gompi_insight_thread *t, uintptr_t frame);

// Returns the thread if this call is one to be recorded or counted; gompi_insight_end belongs to it.
static inline __attribute__((always_inline)) struct gompi_insight_thread *gompi_insight_begin(void) {
	struct gompi_insight_thread *t = &gompi_insight_self;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	if (__builtin_expect(!t->open, 0) && !gompi_insight_enter(t, frame))
		return NULL;
	t->open = false;
	t->frame = frame;
	t->back = __builtin_return_address(0);
	return t;
}

static inline void gompi_insight_end(struct gompi_insight_thread *t) { t->open = true; }

// Returns true if the call of PMPI_X that t has begun is not the application's but one by which the Fortran bindings
// convert arguments. Ends it then: it is neither recorded nor counted (profiling.c).
bool gompi_insight_serves(struct gompi_insight_thread *t, int function);

// Returns where the application calls MPI_X if MPI_X is not the wrapper here but a function that calls PMPI_X, as in a
// program that a profiling library is linked into; back is where PMPI_X returns to. Else returns back (profiling.c).
void *gompi_insight_call_site(int function, void *back);

// Unlikely, so that what it needs costs nothing where calls are only counted.
static inline bool gompi_insight_records(const struct gompi_insight_thread *t) {
	return __builtin_expect(t->mode & GOMPI_INSIGHT_MODE_RECORDS, 0);
}

// Begins a record, of a call that returns to an address.
void gompi_insight_start(struct gompi_insight_thread *t, uint32_t function, void *caller);

static inline void gompi_insight_word(struct gompi_insight_thread *t, uint64_t word) { t->words[t->used++] = word; }

// Writes down n elements of a size; n below zero: they mean nothing.
void gompi_insight_list(struct gompi_insight_thread *t, const void *elements, int64_t n, size_t size);

// Puts a request of its own in the place of one that stands for several, if it matters which of them a call completes
// (requests.c).
void gompi_insight_make_distinct(struct gompi_insight_thread *t, MPI_Request *request);

// In place of a text: it means nothing.
extern const char gompi_insight_absent[1];
#define GOMPI_ABSENT ((char *)gompi_insight_absent)
void gompi_insight_text(struct gompi_insight_thread *t, const char *text);

// All inputs have been written down, and the call may wait.
void gompi_insight_entered(struct gompi_insight_thread *t);

// The same for a call that does not wait but operates on a window: who is to answer must know that it is under way.
void gompi_insight_operates(struct gompi_insight_thread *t);

// The call has returned, outputs follow.
void gompi_insight_returned(struct gompi_insight_thread *t, int64_t result);

// Passes the record on; alone: of a call on which the meaning of no other depends.
void gompi_insight_write(struct gompi_insight_thread *t);
void gompi_insight_write_alone(struct gompi_insight_thread *t);

// Returns true if the outputs of a call have a value.
static inline bool gompi_insight_made(int rc) { return rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS; }

// The same without looking at what it is.
void gompi_insight_write_words(struct gompi_insight_thread *t);

// Waits until gompirun has moved a position on from where it was seen, which rings a bell if somebody waits. False: it
// has not for a long time, so it may do so no more; then nobody else waits until it does.
struct gompi_insight_wait {
	gompi_a64 given_up; // where it stood, and 1
};
bool gompi_insight_await(struct gompi_insight_wait *w, gompi_a64 *position, uint64_t seen, gompi_a32 *bell,
			 gompi_a32 *waits);

// Waits until gompirun has looked at the call that has been recorded, which has returned rc. If that was the later one
// of two that conflict it raises MPI_ERR_RMA_CONFLICT, on the window or the communicator. Returns what the wrapper is
// to return. In raise.c, for --check=error.
int gompi_insight_raise_win(struct gompi_insight_thread *t, int rc);
int gompi_insight_raise_comm(struct gompi_insight_thread *t, int rc);

static inline bool gompi_insight_asks(const struct gompi_insight_thread *t) {
	return t->mode & GOMPI_INSIGHT_MODE_ANSWERS;
}

// What the program's own loads and stores need. access.c sets it when this library is loaded: what comes before it in
// a call knows no more of it.
struct gompi_insight_own {
	void (*find)(void);                              // finds libgompirma-access.so
	void (*pass_on)(struct gompi_insight_thread *t); // before a call: what that has gathered of the thread
	void (*hand_on)(struct gompi_insight_thread *t); // the same at other times
	void (*learn)(struct gompi_insight_thread *t);   // from a record, which memory is of interest
	void (*forget)(uintptr_t low, uintptr_t high);   // what has been gathered of memory that is given back
};
extern struct gompi_insight_own gompi_insight_own; // attach.c

// Returns true if a test is to be recorded: those that find nothing come by thousands.
bool gompi_insight_found(struct gompi_insight_thread *t, int rc, const int *flag);

// Lengths of lists that the standard's text gives; below zero where the list means nothing.
int64_t gompi_insight_members(MPI_Comm comm); // of the remote group, if there is one
int64_t gompi_insight_own_members(MPI_Comm comm);
int64_t gompi_insight_members_at(MPI_Comm comm, int root); // nothing elsewhere
int64_t gompi_insight_neighbors(MPI_Comm comm, bool out);
int64_t gompi_insight_dimensions(MPI_Comm comm);
int64_t gompi_insight_sum(const int *numbers, int n);
int64_t gompi_insight_last(const int *numbers, int n);

// The next function of a name that has no wrapper, such as PMPI_X, or NULL.
void *gompi_insight_symbol(const char *name);

// Writes down who is in a communicator, its remote group or a group, as ranks in MPI_COMM_WORLD; nothing of a null
// handle (members.c).
void gompi_insight_comm_members(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_comm_remote(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_group_members(struct gompi_insight_thread *t, MPI_Group group);
bool gompi_insight_inter(MPI_Comm comm);

// Returns the address in the application that a wrapper which returns to an address was called from, and has its object
// in the table.
uintptr_t gompi_insight_caller(struct gompi_insight_thread *t, uintptr_t address);

// Returns true if an address is in the Fortran bindings, and has its object in the table.
bool gompi_insight_in_bindings(struct gompi_insight_thread *t, uintptr_t address);

// Has the object of an address in the table.
void gompi_insight_object_of(struct gompi_insight_thread *t, uintptr_t address);

// The part of this process' rank, and the job; NULL: nobody reads.
extern struct gompi_insight_part *gompi_insight_part;
extern struct gompi_insight_job *gompi_insight_job;
extern gompi_a32 gompi_insight_attached; // this process has its part
extern bool gompi_insight_alone;         // this process counts without gompirun

int64_t gompi_insight_now(int clock);

#endif
