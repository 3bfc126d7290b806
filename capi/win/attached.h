// Dynamic windows: the memory that each member has attached. Each member writes its own table (attach.c); origins and
// the progress thread read the tables (attached.c). core/rma/dynamic.go allocates and maps the tables.
#ifndef GOMPI_DYNAMIC_H
#define GOMPI_DYNAMIC_H

#include "win/win.h"

struct gompi_attached_entry {
	gompi_a64 address, size;
	gompi_a64 heap_offset; // offset of the memory in the node's memfd; -1 for ordinary memory
	gompi_a64 unused;
};

struct gompi_attached_regions {
	gompi_a64 version; // odd while the table changes
	gompi_a64 count;
	_Alignas(GOMPI_CACHE_LINE) struct gompi_attached_entry entry[]; // sorted by address
};

enum { GOMPI_MAX_ATTACHED = 1 << 20 };

// gompi_heap_region_add records that size bytes at an address of this process are shared with the node, at heap_offset
// in the node's memfd. gompi_heap_region_remove removes the record. Only Go calls these functions.
void gompi_heap_region_add(uintptr_t address, uint64_t size, int64_t heap_offset);
void gompi_heap_region_remove(uintptr_t address);

// Returns true if [from, to) overlaps memory that this process has attached to a window and that origins cannot address
// directly.
bool gompi_attached_overlaps(uintptr_t handle, uint64_t from, uint64_t to);

// Finds the region of rank that holds the addresses [from, to) of its process. Returns 0 and stores in *mapped_at the
// address at which `from` is mapped in this process, or NULL if this process cannot address the region. Returns
// MPI_ERR_RMA_RANGE if there is no such region, MPI_ERR_NO_MEM if the member's table cannot be mapped,
// MPI_ERR_PROC_ABORTED if the member failed while it changed its table.
int gompi_attached_find(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **mapped_at);

// Finds the region of rank that holds `from`, and stores in *end the end of the part of [from, to) that is in the
// region. In all other respects like gompi_attached_find.
int gompi_attached_find_prefix(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **mapped_at,
			       uint64_t *end);

// Returns true if n consecutive elements at the address `from` of `rank` are attached. Each element has `bytes` bytes;
// its last `gap` bytes are a gap. Each element must lie in a single region; a gap at the end of a region need not be
// attached.
bool gompi_attached_covers(struct gompi_win *w, int rank, uint64_t from, uint64_t n, uint64_t bytes, uint64_t gap);

#endif
