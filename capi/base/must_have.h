// Memory for messages and operations that have already arrived from other processes. No error can be returned to their
// senders, so a reserve is kept for them. While the reserve is in use, calls that need memory return MPI_ERR_NO_MEM.
#ifndef GOMPI_MUST_HAVE_H
#define GOMPI_MUST_HAVE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Returns n zeroed bytes; the caller releases them with free(3). Terminates the process with a message if malloc fails
// even after the reserve has been released.
void *gompi_must_have(size_t bytes);

// Returns true if the reserve is in use and cannot be allocated again: new operations must not start.
bool gompi_memory_is_low(void);

// Terminates the process with a message that an allocation of n bytes has failed.
_Noreturn void gompi_no_memory(size_t bytes);

#pragma GCC visibility pop
#endif
