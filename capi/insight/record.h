// libgompirma-insight.so: wrappers of all functions of the ABI (z_*.c), which write records for gompirun to read. There
// are wrappers of MPI_X, and of PMPI_X for programs that call PMPI_X directly, or that define MPI_X and call PMPI_X
// there. The library is preloaded before the MPI library. It is not part of that and uses only mpi_rma.h; it does not
// interpret what it records. core/insight documents the format of a record.
//
// A wrapper calls the next function of its name in the loader's order (next.c), so that another tool may follow. Calls
// within a call are not recorded, whether a wrapper, MPI, or a callback of the application makes them: each call of the
// application gives one record.
//
// This library writes the following words of the shared memory: all of the rank's part except its tail and the ring,
// which gompirun clears after reading; bell and sleeping of the job.
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
#include "insight/generated/layout.h"

// The shared memory: the job's header, and the part of a rank. See core/insight/layout.go.
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
	gompi_a64 ring[]; // mapped twice, so that each record is contiguous
};

// Per-thread caches: sizes of datatypes, and counters of windows. Entries are valid while no datatype or window has
// been freed since (age).
enum { GOMPI_INSIGHT_TYPES = 64, GOMPI_INSIGHT_KNOWN = 8 };
extern gompi_a32 gompi_insight_age; // incremented when a datatype or a window is freed
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

// State of a thread of the application.
struct gompi_insight_thread {
	bool open; // the next call is not inside another one
	bool truncated;
	uint32_t mode;
	uint32_t number;
	uint32_t used;                       // words of the record
	uintptr_t frame;                     // frame of the wrapper that the thread is in
	void *back;                          // its return address
	uintptr_t low, size;                 // range of the object that contains the last caller, which is in the table
	uintptr_t binding_low, binding_size; // range of the Fortran bindings, if they have called
	uint64_t *words;                     // the record; room for GOMPI_INSIGHT_MAX_RECORD words
	uint64_t ends;                       // position in the ring where the last record ends; 0 if it was dropped
	uintptr_t on;                        // window or communicator on which the call would raise an error
	uint32_t conflicts;                  // number of the rank's conflicts that the thread has seen (raise.c)
	uint64_t stamp;                      // ticks of the last measurement
	struct gompi_insight_slot *slot;     // NULL if the thread is not counted
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

// The common body of the wrappers of MPI_X and PMPI_X, which is inlined into both.
#define GOMPI_INSIGHT_BODY static inline __attribute__((always_inline)) int

bool gompi_insight_enter(struct gompi_insight_thread *t, uintptr_t frame);

// Returns the thread if this call must be recorded or counted, else NULL. If it returns the thread, the caller must
// call gompi_insight_end.
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

// Returns true if the call of PMPI_X that t has begun comes from the Fortran bindings, which convert arguments, and not
// from the application. Then it ends the call, which is neither recorded nor counted (profiling.c).
bool gompi_insight_serves(struct gompi_insight_thread *t, int function);

// Returns the address in the application that calls MPI_X. If MPI_X is not this library's wrapper but a function that
// calls PMPI_X, as in a program linked with a profiling library, it is the caller of that function. Otherwise returns
// back, the return address of PMPI_X (profiling.c).
void *gompi_insight_call_site(int function, void *back);

// Returns true if calls are recorded. Marked unlikely, so that recording costs nothing where calls are only counted.
static inline bool gompi_insight_records(const struct gompi_insight_thread *t) {
	return __builtin_expect(t->mode & GOMPI_INSIGHT_MODE_RECORDS, 0);
}

// Begins the record of a call. caller: its return address.
void gompi_insight_start(struct gompi_insight_thread *t, uint32_t function, void *caller);

static inline void gompi_insight_word(struct gompi_insight_thread *t, uint64_t word) { t->words[t->used++] = word; }

// Adds a list of n elements of a size to the record. n < 0: the list is not significant.
void gompi_insight_list(struct gompi_insight_thread *t, const void *elements, int64_t n, size_t size);

// Replaces a request handle that may stand for several requests by a distinct one, if the mode needs to know which of
// them a call completes (requests.c).
void gompi_insight_make_distinct(struct gompi_insight_thread *t, MPI_Request *request);

// Passed instead of a text that is not significant.
extern const char gompi_insight_absent[1];
#define GOMPI_ABSENT ((char *)gompi_insight_absent)
void gompi_insight_text(struct gompi_insight_thread *t, const char *text);

// Writes an entry record if the mode needs one: all inputs are in the record, and the call may wait.
void gompi_insight_entered(struct gompi_insight_thread *t);

// Writes an entry record for a call that does not wait but operates on a window, if gompirun must answer: it must know
// that the call is in progress.
void gompi_insight_operates(struct gompi_insight_thread *t);

// Records the end and the result of a call; outputs follow.
void gompi_insight_returned(struct gompi_insight_thread *t, int64_t result);

// Copies the complete record to the ring. gompi_insight_write_alone is for calls on which the interpretation of no
// other record depends.
void gompi_insight_write(struct gompi_insight_thread *t);
void gompi_insight_write_alone(struct gompi_insight_thread *t);

// Returns true if the outputs of a call are valid.
static inline bool gompi_insight_made(int rc) { return rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS; }

// Copies the record to the ring without interpreting it.
void gompi_insight_write_words(struct gompi_insight_thread *t);

// Waits until gompirun has advanced *position beyond seen. gompirun then rings bell if *waits is set. Returns false if
// it has not advanced for a long time, and may never do so; then no thread waits again before it advances.
struct gompi_insight_wait {
	gompi_a64 given_up; // the position at that time + 1
};
bool gompi_insight_await(struct gompi_insight_wait *w, gompi_a64 *position, uint64_t seen, gompi_a32 *bell,
			 gompi_a32 *waits);

// Waits until gompirun has checked the recorded call, which has returned rc. If it was the later one of two conflicting
// calls, raises MPI_ERR_RMA_CONFLICT on the window or the communicator. Returns the result for the wrapper. In raise.c,
// for --check=error.
int gompi_insight_raise_win(struct gompi_insight_thread *t, int rc);
int gompi_insight_raise_comm(struct gompi_insight_thread *t, int rc);

static inline bool gompi_insight_asks(const struct gompi_insight_thread *t) {
	return t->mode & GOMPI_INSIGHT_MODE_ANSWERS;
}

// Hooks for the program's own loads and stores. access.c sets them when this library is loaded; the rest of the library
// uses only these.
struct gompi_insight_own {
	void (*find)(void); // finds libgompirma-access.so
	// before a call: records the accesses that the thread has gathered
	void (*pass_on)(struct gompi_insight_thread *t);
	void (*hand_on)(struct gompi_insight_thread *t); // the same at other times
	void (*learn)(struct gompi_insight_thread *t);   // learns from a record which memory to watch
	void (*forget)(uintptr_t low, uintptr_t high);   // forgets accesses gathered in memory that is freed
};
extern struct gompi_insight_own gompi_insight_own; // attach.c

// Returns true if the result of a test must be recorded: unsuccessful tests may come by thousands, and are only
// counted.
bool gompi_insight_found(struct gompi_insight_thread *t, int rc, const int *flag);

// Returns the length of a list as the standard's text defines it; < 0 if the list is not significant.
int64_t gompi_insight_members(MPI_Comm comm); // of the remote group, if there is one
int64_t gompi_insight_own_members(MPI_Comm comm);
int64_t gompi_insight_members_at(MPI_Comm comm, int root); // significant at root only
int64_t gompi_insight_neighbors(MPI_Comm comm, bool out);
int64_t gompi_insight_dimensions(MPI_Comm comm);
int64_t gompi_insight_sum(const int *numbers, int n);
int64_t gompi_insight_last(const int *numbers, int n);

// Returns the next function of a name that has no wrapper, such as PMPI_X, or NULL.
void *gompi_insight_symbol(const char *name);

// Adds the members of a communicator, of its remote group or of a group to the record, as ranks in MPI_COMM_WORLD;
// nothing for a null handle (members.c).
void gompi_insight_comm_members(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_comm_remote(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_group_members(struct gompi_insight_thread *t, MPI_Group group);
bool gompi_insight_inter(MPI_Comm comm);

// Returns the address in the application from which a wrapper was called. address is the wrapper's return address,
// which may be in the Fortran bindings. Adds its object to the table.
uintptr_t gompi_insight_caller(struct gompi_insight_thread *t, uintptr_t address);

// Returns true if an address is in the Fortran bindings. Adds its object to the table.
bool gompi_insight_in_bindings(struct gompi_insight_thread *t, uintptr_t address);

// Adds the object of an address to the table.
void gompi_insight_object_of(struct gompi_insight_thread *t, uintptr_t address);

// The part of this process' rank, and the job; NULL if no process reads the records.
extern struct gompi_insight_part *gompi_insight_part;
extern struct gompi_insight_job *gompi_insight_job;
extern gompi_a32 gompi_insight_attached; // this process has attached to its part
extern bool gompi_insight_alone;         // this process counts without gompirun

int64_t gompi_insight_now(int clock);

#endif
