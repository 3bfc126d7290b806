// Properties of this process for MPI_INFO_ENV (MPI-5.0 11.2.1).
#ifndef GOMPI_INFO_ENV_H
#define GOMPI_INFO_ENV_H

#include <stddef.h>

#include "base/abi.h"

// Values of the keys of MPI_INFO_ENV that describe where the process runs. Unknown values are "" or NULL.
struct gompi_env_values {
	char maxprocs[16], host[65], arch[65];
	char *wdir; // allocated by malloc
};

#pragma GCC visibility push(hidden)

void gompi_env_read(struct gompi_env_values *p);

// Returns the arguments with which the process was started, and stores their number. The caller frees the text, which
// begins at the first argument, and then the array. Returns NULL if the arguments are unknown.
char **gompi_env_arguments(int *argc);

// Writes the arguments, separated by blanks, to MPI_MAX_INFO_VAL bytes, and truncates them if necessary. Returns the
// length.
size_t gompi_env_join(char *to, int argc, char *const argv[]);

#pragma GCC visibility pop
#endif
