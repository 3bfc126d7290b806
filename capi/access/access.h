// libgompirma-access.so: what gcc's -fsanitize=thread calls, in programs that `gompicc --check` has compiled, for each
// load and store. It gathers those to memory that is of interest, and hands them to libgompirma-insight.so, which says
// what is of interest and finds this library by the name of gompi_access_runtime. Without that it does nothing.
//
// It owns the gathered accesses (gather.c). The ranges of interest belong to libgompirma-insight.so, which alone
// changes them (insight/access.c). Neither is part of libgompirma.so.
#ifndef GOMPI_ACCESS_H
#define GOMPI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

enum {
	GOMPI_ACCESS_VERSION = 2,
	GOMPI_ACCESS_RANGES = 1024,
	// What an access does: core/insight/access.go has the same.
	GOMPI_ACCESS_LOAD = 0,
	GOMPI_ACCESS_STORE = 1,
	GOMPI_ACCESS_ATOMIC_STORE = 2,
	GOMPI_ACCESS_ATOMIC_LOAD = 3,
};

struct gompi_access_runtime {
	uint32_t version;
	gompi_a32 ranges; // how many there are; 0: nothing is of interest
	gompi_a32 change; // raised before and after each change of the ranges: odd while they change
	gompi_a32 stamp;  // raised at each call of MPI, and when the ranges have changed
	gompi_a64 low[GOMPI_ACCESS_RANGES], high[GOMPI_ACCESS_RANGES]; // ascending, none touches the next

	// Set by libgompirma-insight.so. Returns true if the thread is in no call of MPI.
	bool (*_Atomic outside)(void);
	// Passes on what has been gathered, by drain.
	void (*_Atomic pass_on)(void);

	// The rank has several threads if this is more than zero: then all memory may become of interest (gather.c).
	gompi_a32 *_Atomic several;

	// The thread does something atomic with memory that is not of interest, and by that may be ordered with others:
	// called before a store, and after a load.
	void (*_Atomic release)(const void *p);
	void (*_Atomic acquire)(const void *p);

	// Returns true if the thread has gathered something. drain takes that, as groups of words: the place in the
	// program, what the access does and the number of pieces (kind | pieces << 8), and for each piece its first
	// byte, the length of each part of it, the distance of those, and how many there are. It returns how many words
	// it has written; 0: there is no more.
	bool (*gathered)(void);
	size_t (*drain)(uint64_t *words, size_t room);

	// Memory is given back: what the thread has gathered of it does not count any longer.
	void (*forget)(uintptr_t low, uintptr_t high);
};

extern struct gompi_access_runtime gompi_access_runtime;

// What the last accesses of a place were: at one distance, from low to before next; or, without a distance, not of
// interest, like all from floor on.
struct gompi_access_spot {
	_Alignas(64) uintptr_t key;
	uintptr_t next, low, floor, span; // addresses that are span or more above floor may be of other interest
	int64_t stride;
	uint32_t size, stamp; // it means nothing if that is not the stamp of all
};
enum { GOMPI_ACCESS_SPOTS = 512 };
extern _Thread_local struct gompi_access_spot *gompi_access_spots __attribute__((tls_model("initial-exec")));

static inline uintptr_t gompi_access_key(void *place, unsigned kind) { return (uintptr_t)place << 2 | kind; }

static inline struct gompi_access_spot *gompi_access_spot(uintptr_t key) {
	return &gompi_access_spots[(key ^ key >> 11) % GOMPI_ACCESS_SPOTS];
}

// Notes an access, if it is of interest.
void gompi_access_note(uintptr_t address, size_t size, unsigned kind, void *place);

// Returns true if any of the bytes is of interest.
bool gompi_access_wanted(uintptr_t address, size_t size);

static inline bool gompi_access_on(void) { return __builtin_expect(gompi_load(&gompi_access_runtime.ranges) != 0, 0); }

#endif
