// Dynamic windows: which memory a member has attached. Each writes its own table (attach.c); origins and the progress
// thread read them (attached.c). core/rma/dynamic.go has their memory, and maps it.
#ifndef GOMPI_DYNAMIC_H
#define GOMPI_DYNAMIC_H

#include "win/win.h"

struct gompi_attached_entry {
	gompi_a64 address, size;
	gompi_a64 heap; // offset of the memory in the node's memfd, -1: ordinary memory
	gompi_a64 unused;
};

struct gompi_attached {
	gompi_a64 version; // odd while the table changes
	gompi_a64 count;
	_Alignas(GOMPI_LINE) struct gompi_attached_entry entry[]; // by address
};

enum { GOMPI_MOST_ATTACHED = 1 << 20 };
_Static_assert(offsetof(struct gompi_attached, entry) == 64 && sizeof(struct gompi_attached_entry) == 32,
	       "core/rma/dynamic.go");

// What of this process' memory is shared with the node, for Go to say: size bytes at an address lie at an offset in the
// node's memfd, until they are removed.
void gompi_regions_add(uintptr_t address, uint64_t size, int64_t heap);
void gompi_regions_remove(uintptr_t address);

// Returns true if memory that this process has attached to a window, and that origins do not reach themselves, lies in
// [from, to).
bool gompi_attached_overlaps(uintptr_t handle, uint64_t from, uint64_t to);

// Finds the region of rank that holds the addresses [from, to) of its process. 0 and, if this process can address it,
// where `from` is mapped here (else NULL); MPI_ERR_RMA_RANGE: there is none; MPI_ERR_NO_MEM: the member's table cannot
// be mapped.
int gompi_attached_find(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **here);

// The same for as much of [from, to) as is in one region: up to *end.
int gompi_attached_find_some(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **here, uint64_t *end);

// Returns true if n elements one behind the other, each of so many bytes with a gap behind its data, are attached at
// rank: each in one region.
bool gompi_attached_covers(struct gompi_win *w, int rank, uint64_t from, uint64_t n, uint64_t bytes, uint64_t gap);

#endif
