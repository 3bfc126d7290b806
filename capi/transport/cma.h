// Moves data between the memory of two processes of a node by the system calls process_vm_readv(2) and
// process_vm_writev(2) (cross-memory attach, CMA). The other process need not cooperate.
#ifndef GOMPI_CMA_H
#define GOMPI_CMA_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Moves `bytes` bytes between the memory `local` and an address in the process `peer`. If `write` is true, the data
// moves to `peer`, else from `peer`. Returns true on success. On failure, some bytes may have been moved.
bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Moves `bytes` bytes between the contiguous memory `local` and `count` elements of a datatype at an address of `peer`.
// One system call moves many segments of the datatype. Returns true on success. On failure, some bytes may have been
// moved.
bool gompi_cma_move_segments(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			     int64_t bytes, bool write);

#pragma GCC visibility pop
#endif
