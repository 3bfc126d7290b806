// Dynamic windows: which memory a member has attached. The tables are written by Go (core/rma/dynamic.go) and read by
// origins and by the progress thread here.
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
