// Memory for what others have sent: the sender counts on it, and cannot be told that there is none. A reserve is kept
// for it. While that is in use, calls that need memory return MPI_ERR_NO_MEM.
#ifndef GOMPI_MUST_HAVE_H
#define GOMPI_MUST_HAVE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Returns bytes of zeroed memory, from free(3)'s point of view an allocation like any other. If there is none even
// without the reserve, the process ends with a line that says so.
void *gompi_must_have(size_t bytes);

// Returns true if the reserve is in use and cannot be allocated again: new operations must not start.
bool gompi_memory_is_low(void);

// Ends the process with a line that says that there is no memory.
_Noreturn void gompi_no_memory(size_t bytes);

#pragma GCC visibility pop
#endif
