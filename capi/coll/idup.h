// MPI_Comm_idup among members that share memory. Member 0 broadcasts its description of the new communicator by a
// nonblocking shared-memory collective. If a member could fail to create the communicator from the description, the
// members also exchange their error classes. Go creates the communicator.
#ifndef GOMPI_IDUP_H
#define GOMPI_IDUP_H

#include <stdbool.h>
#include <stdint.h>

// Bytes of the description, a comm.Draft, that member 0 sends. The first byte is not 0 if no member can fail to create
// the communicator from the description.
enum { GOMPI_IDUP_DRAFT_BYTES = 25 };

#pragma GCC visibility push(hidden)

// Starts an idup on a communicator with nonblocking shared-memory collectives (gompi_comm.nbc) and stores the request.
// Copies the description `draft`. The argument `number` identifies the idup for Go. On completion,
// gompi_go_callbacks.idup_finish is called with this number, possibly before gompi_idup_start returns. Returns false if
// out of memory.
bool gompi_idup_start(uintptr_t comm, const void *draft, uintptr_t number, uintptr_t request);

#pragma GCC visibility pop
#endif
