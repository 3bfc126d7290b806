// Memory for messages and operations that have already arrived from other processes. The library cannot return an error
// to the senders, so it keeps a reserve of memory, which it frees when such an allocation fails. Until the reserve can
// be allocated again, calls that need memory return MPI_ERR_NO_MEM.
#ifndef GOMPI_ALLOC_OR_ABORT_H
#define GOMPI_ALLOC_OR_ABORT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Returns zeroed memory; the caller releases it with free(3). Terminates the process with a message if allocation fails
// even after the reserve has been released.
void *gompi_alloc_or_abort(size_t bytes);

// Allocates the reserve if it does not exist: at the first call, and after it has been used. Returns true if that
// fails. The caller must then start no operation that allocates memory.
bool gompi_memory_is_low(void);

// Returns an error text that memory is short, with the limits of this process. The text is valid until the next call in
// the same thread. The argument `what` is the beginning of the text.
const char *gompi_no_memory_text(const char *what);

// Terminates the process with a message that an allocation of this many bytes has failed.
_Noreturn void gompi_abort_out_of_memory(size_t bytes);

#pragma GCC visibility pop
#endif
