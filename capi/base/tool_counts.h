// Counters of an MPI object for the tool information interface (capi/tool). They exist once a tool has bound a handle
// to the object. They outlive the object while a handle refers to them.
#ifndef GOMPI_TOOL_COUNTS_H
#define GOMPI_TOOL_COUNTS_H

#include <stddef.h>

#include "base/atomics.h"

// The first field of the counters of an object.
struct gompi_tool_counts {
	gompi_a32 references; // number of references: one by the object, one by each handle
};

#pragma GCC visibility push(hidden)

// Returns a new reference to the counters to which *owner points, a field of the object. At the first call, creates
// counters of this number of bytes, which are 0. Returns NULL if out of memory. No two threads may call the function at
// the same time.
struct gompi_tool_counts *gompi_tool_counts_acquire(struct gompi_tool_counts *_Atomic *owner, size_t bytes);
// Releases a reference. NULL has no effect.
void gompi_tool_counts_release(struct gompi_tool_counts *counts);

#pragma GCC visibility pop
#endif
