// Moves data between the memory of two processes of a node by system calls, without cooperation of the other process:
// process_vm_readv(2) and process_vm_writev(2) (cross-memory attach).
#ifndef GOMPI_CMA_H
#define GOMPI_CMA_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Moves bytes between local memory and an address in the process peer. The direction is to peer if write is true.
// Returns true on success. On failure, some bytes may have been moved.
bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Moves bytes between contiguous local memory and count elements of type at an address of peer. Moves many segments of
// the type with one system call. Returns the same as gompi_cma_move.
bool gompi_cma_move_segments(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			     int64_t bytes, bool write);

#pragma GCC visibility pop
#endif
