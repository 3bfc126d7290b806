// Info objects (MPI-5.0 10): ordered pairs of key and value. What keys mean is known to whoever honours one.
#ifndef GOMPI_INFO_H
#define GOMPI_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/abi.h"
#include "base/verdict.h"

#pragma GCC visibility push(hidden)

// Returns true if there is an object with this handle.
bool gompi_info_is(MPI_Info info);

// For Go. Makes an object with n pairs: so many bytes have the key, a 0, the value and a 0 of each. false: there is no
// memory, or as many objects as can be.
bool gompi_info_make(int n, const char *pairs, size_t bytes, MPI_Info *info);
// Returns the pairs of an object in the same form, to be freed; NULL: there is no such object, which v tells, or no
// memory.
char *gompi_info_pairs(MPI_Info info, int *n, size_t *bytes, struct gompi_verdict *v);

// Stores what MPI_INFO_ENV says (MPI-5.0 11.2.1) of a process that was started with these arguments, in the same form,
// in memory to be freed, and returns that; NULL: there is none.
char *gompi_info_of_process(int argc, char *const argv[], int *n, size_t *bytes);
// The same for this process.
char *gompi_info_of_this_process(int *n, size_t *bytes);

#pragma GCC visibility pop
#endif
