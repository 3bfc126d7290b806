// Moves data between the memory of two processes of a node by the system calls process_vm_readv(2) and
// process_vm_writev(2) (cross-memory attach, CMA). The other process need not cooperate.
#ifndef GOMPI_CMA_H
#define GOMPI_CMA_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// gompi_cma_call_ns returns the time of a system call that moves 8 bytes within this process, in ns. gompi_cma_16k_ns
// returns how much longer a call takes for 16 KiB. The first call on the node measures the time, and all processes of
// the node get the same result.
int64_t gompi_cma_call_ns(void);
int64_t gompi_cma_16k_ns(void);

// Moves `bytes` bytes between the memory `local` and an address in the process `peer`. If `write` is true, the data
// moves to `peer`, else from `peer`. Returns true on success. On failure, some bytes may have been moved.
bool gompi_cma_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Moves data like gompi_cma_move. The process `peer` waits for this transfer, and copies a part of large data
// (base/assisted_copy.h).
bool gompi_cma_move_assisted(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Moves `bytes` bytes between the contiguous memory `local` and `count` elements of a datatype at an address of `peer`.
// One system call moves many segments of the datatype. Returns true on success. On failure, some bytes may have been
// moved.
bool gompi_cma_move_segments(int peer, uint64_t address, int64_t count, const struct gompi_type *type, char *local,
			     int64_t bytes, bool write);

#pragma GCC visibility pop
#endif
