// Moving data between the memory of two processes of a node by system calls, without the help of the other one:
// process_vm_readv(2) and process_vm_writev(2).
#ifndef GOMPI_CMA_H
#define GOMPI_CMA_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Moves bytes between memory here and an address in the process with a number: to there if write.
// Returns true if it could; if not, some may have been moved.
bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// The same for memory here and count copies of type there, many pieces with one system call.
bool gompi_cma_move_pieces(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			   int64_t bytes, bool write);

#pragma GCC visibility pop
#endif
