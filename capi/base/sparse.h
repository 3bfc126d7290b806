// Arrays with an element for each member of a job, of which a process touches a few: what nobody has touched costs no
// memory, however many members there are.
#ifndef GOMPI_SPARSE_H
#define GOMPI_SPARSE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

// What is smaller is ordinary memory: it is taken and given back faster than a mapping, which costs system calls and a
// fault for each page.
enum { GOMPI_SPARSE_LEAST = 64 << 10 };

// Returns so many bytes, zeroed, from a line on if they fill one; NULL: there is no memory. To give them back takes
// their number.
void *gompi_sparse_take(size_t bytes);
void gompi_sparse_give(void *at, size_t bytes);

#pragma GCC visibility pop
#endif
