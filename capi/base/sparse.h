// Arrays with an element for each process of a job, for uses that touch only a few elements. Untouched elements use no
// physical memory, however many processes there are.
#ifndef GOMPI_SPARSE_H
#define GOMPI_SPARSE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

// Arrays below this size are heap memory. A mapping would cost two system calls and a page fault for each page.
enum { GOMPI_SPARSE_MMAP_MIN_BYTES = 64 << 10 };

// Returns zeroed memory, or NULL if out of memory. The memory is aligned to a cache line if bytes is at least a cache
// line. gompi_sparse_free releases the memory and must get the same number of bytes.
void *gompi_sparse_alloc(size_t bytes);
void gompi_sparse_free(void *at, size_t bytes);

#pragma GCC visibility pop
#endif
