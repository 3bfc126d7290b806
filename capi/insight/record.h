// libgompirma-insight.so: wrappers of all functions of the ABI (directory generated), which write records for gompirun
// to read. There are wrappers of MPI_X, and of PMPI_X for programs that call PMPI_X directly, or that define MPI_X and
// call PMPI_X there. The library is preloaded before the MPI library. It is not part of the MPI library, and uses only
// the MPI library's header files. It does not interpret the records. core/insight documents the format of a record.
//
// A wrapper calls the next function of its name in the loader's order (next.c), which may belong to another tool. Each
// call of the application makes one record. Nested calls, by a wrapper, by MPI or by a callback of the application, are
// not recorded.
//
// Of the shared memory, gompirun writes tail, checked, conflicts, conflict_ends, space_futex and check_futex of a part,
// and clears the ring after reading. It also clears space_wanted and check_wanted. This library writes the rest of the
// rank's part, and doorbell and reader_asleep of the job.
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

#include "base/atomics.h"
#include "insight/generated/layout.h"

// The shared memory: the job's header, and the part of a rank. See core/insight/layout.go.
struct gompi_insight_job {
	uint64_t magic;
	uint32_t version, mode, ranks;
	gompi_a32 doorbell, reader_asleep;
	uint32_t functions;
	uint64_t part_size, ring_size;
	_Alignas(64) gompi_a32 tick;
	_Alignas(4096) gompi_a32 parts[GOMPI_INSIGHT_MAX_PARTS]; // part of each process, plus 1; 0: no part
};
struct gompi_insight_object {
	uint64_t low, high, bias, name;
};
struct gompi_insight_window {
	gompi_a64 handle;
	int32_t first_rank;
	uint32_t members, ordinal, has_paths;
	char label[GOMPI_INSIGHT_LABEL_SIZE] __attribute__((aligned(8)));
};
struct gompi_insight_count {
	gompi_a64 calls, bytes, ticks;
	uint32_t until_next, stride;
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
	gompi_a32 pid, threads, rejected;
	gompi_a32 space_futex, space_wanted;
	gompi_a32 objects, names, objects_lost;
	uint64_t monotonic, realtime;
	uint32_t first; // part of rank 0 of the process' job; written by gompirun
	_Alignas(64) gompi_a64 head;
	_Alignas(64) gompi_a64 tail;
	_Alignas(64) gompi_a64 dropped;
	gompi_a64 failed_tests, essential_lost;
	gompi_a64 checked;
	gompi_a32 conflicts, check_wanted, check_futex;
	_Alignas(64) gompi_a64 ticks;
	gompi_a64 ticks_now, monotonic_now, ended;
	gompi_a32 uncounted, windows;
	struct MPIX_Gompirma_file_counts file_counts;
	_Alignas(512) gompi_a32 owners[GOMPI_INSIGHT_SLOTS];
	_Alignas(1024) gompi_a64 conflict_ends[GOMPI_INSIGHT_MAX_CONFLICT_ENDS];
	_Alignas(4096) struct gompi_insight_object objects_table[GOMPI_INSIGHT_MAX_OBJECTS];
	char name[GOMPI_INSIGHT_NAMES_SIZE];
	struct gompi_insight_window window[GOMPI_INSIGHT_MAX_WINDOWS];
	struct MPIX_Gompirma_count paths[GOMPI_INSIGHT_MAX_WINDOWS][MPIX_GOMPIRMA_KINDS][MPIX_GOMPIRMA_WAYS];
	_Alignas(4096) struct gompi_insight_slot slots[GOMPI_INSIGHT_SLOTS];
	gompi_a64 ring[]; // mapped twice, so that each record is contiguous
};

// Per-thread caches: sizes of datatypes, and counters of windows. An entry is valid while its generation equals
// gompi_insight_generation.
enum { GOMPI_INSIGHT_CACHED_TYPES = 64, GOMPI_INSIGHT_CACHED_WINDOWS = 8 };
// incremented when a datatype is freed, and when a window is created or freed
extern gompi_a32 gompi_insight_generation;
struct gompi_insight_cached_type {
	MPI_Datatype type;
	uint32_t generation;
	int64_t size;
};
struct gompi_insight_cached_window {
	MPI_Win win;
	uint32_t generation;
	struct gompi_insight_use *uses;
};

// State of a thread of the application.
struct gompi_insight_thread {
	bool is_outermost; // true if the thread's next call is not nested in another MPI call
	bool truncated;
	uint32_t mode;
	uint32_t number;
	uint32_t used_words;  // number of words of the record so far
	uintptr_t frame;      // frame of the wrapper that the thread is in
	void *return_address; // the wrapper's return address
	// range of the loaded object that contains the last caller; this object is in the table
	uintptr_t object_low, object_bytes;
	uintptr_t binding_low, binding_bytes; // range of the Fortran bindings; 0 if no call from them was seen
	uint64_t *words;                      // the record; capacity GOMPI_INSIGHT_MAX_RECORD words
	uint64_t record_end;                  // position in the ring where the last record ends; 0 if it was dropped
	uintptr_t error_object;               // handle of the window or communicator on which the call raises errors
	uint32_t seen_conflicts;              // number of the rank's conflicts that the thread has seen (sync_check.c)
	uint64_t last_ticks;                  // tick counter at the last measurement
	struct gompi_insight_slot *slot;      // NULL if the thread is not counted
	struct gompi_insight_cached_window windows[GOMPI_INSIGHT_CACHED_WINDOWS];
	struct gompi_insight_cached_type types[GOMPI_INSIGHT_CACHED_TYPES];
};
extern _Thread_local struct gompi_insight_thread gompi_insight_self __attribute__((tls_model("initial-exec")));

extern const char *const gompi_insight_function_names[];
extern _Atomic(void *) gompi_insight_next_table[2][GOMPI_INSIGHT_FUNCTIONS]; // the next MPI_X, and the next PMPI_X
void *gompi_insight_find_function(int number, bool profiling);

static inline void *gompi_insight_next(int number, bool profiling) {
	void *next = gompi_load(&gompi_insight_next_table[profiling][number]);
	return next ? next : gompi_insight_find_function(number, profiling);
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
	if (__builtin_expect(!t->is_outermost, 0) && !gompi_insight_enter(t, frame))
		return NULL;
	t->is_outermost = false;
	t->frame = frame;
	t->return_address = __builtin_return_address(0);
	return t;
}

static inline void gompi_insight_end(struct gompi_insight_thread *t) { t->is_outermost = true; }

// Returns true if the call of PMPI_X that t has begun comes from the Fortran bindings, which convert arguments, and not
// from the application. If so, it also ends the call without recording or counting it (profiling.c).
bool gompi_insight_end_if_binding(struct gompi_insight_thread *t, int function);

// Returns the address in the application that calls MPI_X. `back` is the return address of PMPI_X. The application's
// MPI_X may be a function that calls PMPI_X, as in a program linked with a profiling library. In this case, returns the
// address of the call of that function. Otherwise returns `back` (profiling.c).
void *gompi_insight_call_site(int function, void *back);

// Returns true if calls are recorded. Marked unlikely, so that recording costs nothing where calls are only counted.
static inline bool gompi_insight_is_recording(const struct gompi_insight_thread *t) {
	return __builtin_expect(t->mode & GOMPI_INSIGHT_MODE_RECORDS, 0);
}

// Begins the record of a call of the function with this number. `caller` is the return address of the call.
void gompi_insight_begin_record(struct gompi_insight_thread *t, uint32_t function, void *caller);

static inline void gompi_insight_add_word(struct gompi_insight_thread *t, uint64_t word) {
	t->words[t->used_words++] = word;
}

// Adds a list of n elements, of `size` bytes each, to the record. If n < 0, the list is not significant.
void gompi_insight_add_list(struct gompi_insight_thread *t, const void *elements, int64_t n, size_t size);

// Replaces a request handle that may represent several operations by a distinct handle. Does so only with --check,
// which must know which operation a call completes (requests.c).
void gompi_insight_make_distinct(struct gompi_insight_thread *t, MPI_Request *request);

// Represents a text argument that is not significant.
extern const char gompi_insight_absent[1];
#define GOMPI_ABSENT ((char *)gompi_insight_absent)
void gompi_insight_add_text(struct gompi_insight_thread *t, const char *text);

// Writes an entry record, which marks the start of a call, if the mode needs entry records. Wrappers of calls that may
// wait use this function when all inputs are in the record.
void gompi_insight_write_entry(struct gompi_insight_thread *t);

// Writes an entry record for a call that does not wait but operates on a window, if the call will wait for the check by
// gompirun. Otherwise gompirun would not know that the call is in progress.
void gompi_insight_write_op_entry(struct gompi_insight_thread *t);

// Records the end and the result of a call. The caller then adds the outputs.
void gompi_insight_set_result(struct gompi_insight_thread *t, int64_t result);

// Copies the complete record to the ring. gompi_insight_write_may_drop may drop the record if the ring is full. It is
// for calls without which gompirun can still interpret all other records.
void gompi_insight_write(struct gompi_insight_thread *t);
void gompi_insight_write_may_drop(struct gompi_insight_thread *t);

// Returns true if the outputs of a call are valid.
static inline bool gompi_insight_has_outputs(int rc) { return rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS; }

// Copies the record to the ring, without the hook after_record.
void gompi_insight_write_words(struct gompi_insight_thread *t);

// The state of all waits for one position, which gompirun advances.
struct gompi_insight_wait {
	gompi_a64 gave_up_at; // position at which a wait has given up, plus 1; 0 if none has
};

// Waits until gompirun has advanced *position beyond the value `seen`. gompirun then wakes the futex *doorbell if
// *wait_flag is set. Returns false if gompirun has not advanced *position for 10 s. After that, no thread waits again
// before gompirun advances it.
bool gompi_insight_await_reader(struct gompi_insight_wait *w, gompi_a64 *position, uint64_t seen, gompi_a32 *doorbell,
				gompi_a32 *wait_flag);

// Waits until gompirun has checked the recorded call, which has returned rc. If this call was the later one of two
// conflicting calls, raises MPI_ERR_RMA_CONFLICT on the window or the communicator. Returns the result for the wrapper.
// For --check=error (sync_check.c).
int gompi_insight_raise_win(struct gompi_insight_thread *t, int rc);
int gompi_insight_raise_comm(struct gompi_insight_thread *t, int rc);

static inline bool gompi_insight_awaits_check(const struct gompi_insight_thread *t) {
	return t->mode & GOMPI_INSIGHT_MODE_SYNC_CHECK;
}

// Hooks for the program's own loads and stores. watch.c sets them when this library is loaded. The other files call
// watch.c only through these hooks.
struct gompi_insight_hooks {
	void (*init)(void); // finds libgompirma-access.so
	// before a call: records the accesses that the thread has gathered
	void (*before_call)(struct gompi_insight_thread *t);
	void (*flush_accesses)(struct gompi_insight_thread *t); // records the gathered accesses at other times
	void (*after_record)(struct gompi_insight_thread *t);   // determines from a record which memory to watch
	void (*forget_memory)(uintptr_t low, uintptr_t high);   // forgets accesses gathered in memory that is freed
};
extern struct gompi_insight_hooks gompi_insight_hooks; // attach.c

// Returns true if the result of a test must be recorded. Unsuccessful tests may be very frequent, so they are only
// counted.
bool gompi_insight_must_record(struct gompi_insight_thread *t, int rc, const int *flag);

// Returns the length of a list argument as the standard defines it, or < 0 if the list is not significant. All
// functions down to gompi_insight_last_int return lengths in this way.
int64_t gompi_insight_peer_count(MPI_Comm comm); // size of the remote group if there is one, else of the group
int64_t gompi_insight_local_size(MPI_Comm comm);
int64_t gompi_insight_peers_at_root(MPI_Comm comm, int root);  // significant at root only
int64_t gompi_insight_neighbor_count(MPI_Comm comm, bool out); // `out`: neighbors that receive from this process
int64_t gompi_insight_dim_count(MPI_Comm comm);
int64_t gompi_insight_sum_ints(const int *numbers, int n);
int64_t gompi_insight_last_int(const int *numbers, int n);

// Returns the next function with this name in the loader's order, or NULL. This function is for functions without an
// index in gompi_insight_next_table.
void *gompi_insight_next_symbol(const char *name);

// Adds the members of a communicator, of its remote group or of a group to the record, as indices of their parts. For a
// null handle, adds a list that is marked as absent (members.c).
void gompi_insight_comm_members(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_comm_remote(struct gompi_insight_thread *t, MPI_Comm comm);
void gompi_insight_group_members(struct gompi_insight_thread *t, MPI_Group group);
bool gompi_insight_is_inter(MPI_Comm comm);
// Returns the parts of the members of a group in an array that the caller frees; -1 for members that are not recorded.
// Returns NULL for a null handle, if MPI is not initialized, or if out of memory.
int *gompi_insight_group_parts(MPI_Group group, int *n);

// Returns the address in the application from which a wrapper was called. The argument `address` is the wrapper's
// return address, which may be in the Fortran bindings. Adds the loaded object that contains the address to the table.
uintptr_t gompi_insight_app_caller(struct gompi_insight_thread *t, uintptr_t address);

// Returns true if an address is in the Fortran bindings. Adds the loaded object that contains the address to the table.
bool gompi_insight_is_in_bindings(struct gompi_insight_thread *t, uintptr_t address);

// Adds the loaded object that contains an address to the table.
void gompi_insight_add_object(struct gompi_insight_thread *t, uintptr_t address);

// The part of this process' rank, and the job. Both are NULL if calls are neither recorded nor counted.
extern struct gompi_insight_part *gompi_insight_part;
extern struct gompi_insight_job *gompi_insight_job;
extern gompi_a32 gompi_insight_is_attached; // this process has attached to its part
extern bool gompi_insight_standalone;       // this process counts without gompirun

int64_t gompi_insight_now(int clock);

#endif
