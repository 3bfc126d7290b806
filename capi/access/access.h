// libgompirma-access.so implements the functions that gcc -fsanitize=thread calls for each load and store, for programs
// that `gompicc --check` has compiled. It records the accesses to memory of interest and passes them to
// libgompirma-insight.so. That library decides which memory is of interest; it finds this library through the symbol
// gompi_access_runtime. Without libgompirma-insight.so this library does nothing.
//
// It owns the recorded accesses (gather.c). libgompirma-insight.so owns the ranges of interest and is the only one to
// change them (insight/access.c). Neither library is part of libgompirma.so.
#ifndef GOMPI_ACCESS_H
#define GOMPI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

enum {
	GOMPI_ACCESS_VERSION = 2,
	GOMPI_ACCESS_RANGES = 1024,
	// The kinds of access; core/insight/access.go has the same values.
	GOMPI_ACCESS_LOAD = 0,
	GOMPI_ACCESS_STORE = 1,
	GOMPI_ACCESS_ATOMIC_STORE = 2,
	GOMPI_ACCESS_ATOMIC_LOAD = 3,
};

struct gompi_access_runtime {
	uint32_t version;
	gompi_a32 ranges; // number of ranges; 0 if no memory is of interest
	gompi_a32 change; // incremented before and after each change of the ranges: odd while they change
	gompi_a32 stamp;  // incremented at each MPI call and after each change of the ranges
	gompi_a64 low[GOMPI_ACCESS_RANGES], high[GOMPI_ACCESS_RANGES]; // sorted; ranges neither overlap nor touch

	// Set by libgompirma-insight.so. Returns true if the thread is outside of MPI calls.
	bool (*_Atomic outside)(void);
	// Passes the recorded accesses on; uses drain.
	void (*_Atomic pass_on)(void);

	// The process has several threads if this counter is positive. Then all memory may become of interest
	// (gather.c).
	gompi_a32 *_Atomic several;

	// Called for an atomic operation on memory that is not of interest, because it may order this thread with
	// others. Call release before a store, and acquire after a load.
	void (*_Atomic release)(const void *p);
	void (*_Atomic acquire)(const void *p);

	// gathered returns true if the thread has recorded accesses. drain removes them and writes them as groups of
	// 64-bit words. A group is the program location, then kind | runs << 8, then four words for each run. These are
	// the address of the first byte, the size of each block, their distance, and their number. Returns the number
	// of words that it has written, or 0 if nothing is left.
	bool (*gathered)(void);
	size_t (*drain)(uint64_t *words, size_t room);

	// Discards what the thread has recorded for [low, high), because that memory has been freed.
	void (*forget)(uintptr_t low, uintptr_t high);
};

extern struct gompi_access_runtime gompi_access_runtime;

// The latest accesses of a program location: a run from low to next (exclusive) at one stride. If stride is 0, the last
// access was to memory that is not of interest. An access of the same size that begins in [floor, floor + span) is of
// the same interest as the last one.
struct gompi_access_spot {
	_Alignas(64) uintptr_t key;
	uintptr_t next, low, floor, span; // accesses that begin outside [floor, floor + span) must be looked up again
	int64_t stride;
	uint32_t size, stamp; // the entry is valid only if this equals the global stamp
};
enum { GOMPI_ACCESS_SPOTS = 512 };
extern _Thread_local struct gompi_access_spot *gompi_access_spots __attribute__((tls_model("initial-exec")));

static inline uintptr_t gompi_access_key(void *place, unsigned kind) { return (uintptr_t)place << 2 | kind; }

static inline struct gompi_access_spot *gompi_access_spot(uintptr_t key) {
	return &gompi_access_spots[(key ^ key >> 11) % GOMPI_ACCESS_SPOTS];
}

// Records an access if its memory is of interest.
void gompi_access_note(uintptr_t address, size_t size, unsigned kind, void *place);

// Returns true if any of the bytes is of interest.
bool gompi_access_wanted(uintptr_t address, size_t size);

static inline bool gompi_access_on(void) { return __builtin_expect(gompi_load(&gompi_access_runtime.ranges) != 0, 0); }

#endif
