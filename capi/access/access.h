// libgompirma-access.so implements the functions that gcc -fsanitize=thread calls for each load and store, for programs
// that `gompicc --check` has compiled. It records the accesses to watched memory and passes them to
// libgompirma-insight.so. libgompirma-insight.so determines which memory is watched, and finds this library by the
// symbol gompi_access_runtime. Without libgompirma-insight.so this library does nothing.
//
// This library owns the recorded accesses (gather.c). Only libgompirma-insight.so changes the watched ranges
// (insight/watch.c). Neither library is part of libgompirma.so.
#ifndef GOMPI_ACCESS_H
#define GOMPI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"

enum {
	GOMPI_ACCESS_VERSION = 2,
	GOMPI_ACCESS_MAX_RANGES = 1024,
	// The kinds of access; core/insight/access.go has the same values.
	GOMPI_ACCESS_LOAD = 0,
	GOMPI_ACCESS_STORE = 1,
	GOMPI_ACCESS_ATOMIC_STORE = 2,
	GOMPI_ACCESS_ATOMIC_LOAD = 3,
};

struct gompi_access_runtime {
	uint32_t version;
	gompi_a32 range_count; // number of ranges; 0 if no memory is watched
	gompi_a32 seq;         // incremented before and after each change of the ranges: odd while they change
	gompi_a32 generation;  // incremented at each MPI call and after each change of the ranges
	gompi_a64 low[GOMPI_ACCESS_MAX_RANGES],
		high[GOMPI_ACCESS_MAX_RANGES]; // sorted; the ranges neither overlap nor touch

	// Set by libgompirma-insight.so. Returns true if the thread is outside of MPI calls.
	bool (*_Atomic is_outside_mpi)(void);
	// Set by libgompirma-insight.so. Removes the thread's recorded accesses with `drain`, and appends them as
	// records to the ring of libgompirma-insight.so.
	void (*_Atomic flush)(void);

	// Set by libgompirma-insight.so: a counter that is positive if the process has several threads. Memory that is
	// not watched yet may then become watched later (gather.c).
	gompi_a32 *_Atomic extra_threads;

	// Hooks for an atomic operation on memory that is not watched, because the operation may order this thread with
	// other threads. `release` is called before an atomic store, `acquire` after an atomic load.
	void (*_Atomic release)(const void *p);
	void (*_Atomic acquire)(const void *p);

	// has_gathered returns true if the thread has recorded accesses. `drain` removes the accesses and stores them
	// in `words` as groups of 64-bit words. A group is the program location, then kind | runs << 8, then four words
	// for each run. The words of a run are the address of its first byte, its block size, its stride, and its
	// number of blocks. `drain` returns the number of words that it has stored, or 0 if no accesses are left.
	bool (*has_gathered)(void);
	size_t (*drain)(uint64_t *words, size_t room);

	// Discards the thread's recorded accesses in [low, high), because that memory has been freed.
	void (*forget)(uintptr_t low, uintptr_t high);
};

extern struct gompi_access_runtime gompi_access_runtime;

// The latest accesses of a program location: a run of accesses at one stride, from `low` to `next` (exclusive). If
// `stride` is 0, the last access was to memory that is not watched. The checked_bytes bytes from checked_low on are
// either all watched or all not watched, like the memory of the last access. So an access of the same size that begins
// in them needs no check.
struct gompi_access_site {
	_Alignas(64) uintptr_t key;
	uintptr_t next, low, checked_low,
		checked_bytes; // range of the addresses that need no new check
	int64_t stride;
	// generation: the entry is valid only while this equals gompi_access_runtime.generation
	uint32_t size, generation;
};
enum { GOMPI_ACCESS_SITES = 512 };
extern _Thread_local struct gompi_access_site *gompi_access_sites __attribute__((tls_model("initial-exec")));

static inline uintptr_t gompi_access_key(void *pc, unsigned kind) { return (uintptr_t)pc << 2 | kind; }

static inline struct gompi_access_site *gompi_access_site(uintptr_t key) {
	return &gompi_access_sites[(key ^ key >> 11) % GOMPI_ACCESS_SITES];
}

// Records an access if its memory is watched.
void gompi_access_record(uintptr_t address, size_t size, unsigned kind, void *pc);

// Returns true if any of the bytes is watched.
bool gompi_access_is_watched(uintptr_t address, size_t size);

static inline bool gompi_access_is_enabled(void) {
	return __builtin_expect(gompi_load(&gompi_access_runtime.range_count) != 0, 0);
}

#endif
