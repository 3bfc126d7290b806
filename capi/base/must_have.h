// Memory for what others have sent: the sender counts on it, and cannot be told that there is none.
#ifndef GOMPI_MUST_HAVE_H
#define GOMPI_MUST_HAVE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

// So many bytes, zeroed. Without them the process cannot go on: it ends, with a line that says so.
void *gompi_must_have(size_t bytes);

// Ends the process so.
_Noreturn void gompi_no_memory(size_t bytes);

#pragma GCC visibility pop
#endif
