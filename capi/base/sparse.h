// Arrays with an element for each member of a job, of which a process uses only a few. Untouched elements use no
// physical memory, however many members there are.
#ifndef GOMPI_SPARSE_H
#define GOMPI_SPARSE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

// Smaller arrays are ordinary heap memory: it is allocated and freed faster than a mapping, which costs system calls
// and a page fault for each page.
enum { GOMPI_SPARSE_MMAP_MIN_BYTES = 64 << 10 };

// Returns zeroed memory, aligned to a cache line if it fills one; NULL if out of memory. gompi_sparse_free releases it
// and needs the same size.
void *gompi_sparse_alloc(size_t bytes);
void gompi_sparse_free(void *at, size_t bytes);

#pragma GCC visibility pop
#endif
