// MPI_Comm_idup among members that share memory. Member 0 broadcasts its description of the new communicator over the
// board. If a member can fail to use it, the members also exchange their error classes. Go makes the communicator from
// it.
#ifndef GOMPI_IDUP_H
#define GOMPI_IDUP_H

#include <stdbool.h>
#include <stdint.h>

// Bytes of the description, a comm.Draft, that member 0 sends. The first byte is not 0 if no member can fail to use it.
enum { GOMPI_IDUP_TOLD = 25 };

#pragma GCC visibility push(hidden)

// Starts an idup on a communicator with a board and stores the request. Copies told, the description. Calls
// gompi_up.idup_over with number on completion, which may be before the return. Returns false if out of memory.
bool gompi_idup_start(uintptr_t comm, const void *told, uintptr_t number, uintptr_t request);

#pragma GCC visibility pop
#endif
