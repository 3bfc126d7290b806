// What the system says of this process, as MPI_INFO_ENV tells it (MPI-5.0 11.2.1).
#ifndef GOMPI_INFO_ENV_H
#define GOMPI_INFO_ENV_H

#include <stddef.h>

#include "base/abi.h"

// Where it runs; what is not known is "" or NULL.
struct gompi_env_place {
	char maxprocs[16], host[65], arch[65];
	char *wdir; // by malloc
};

#pragma GCC visibility push(hidden)

void gompi_env_look(struct gompi_env_place *p);

// Returns the arguments that it was started with, and how many. They and, at the first, their text are to be freed.
// NULL: they are not known.
char **gompi_env_arguments(int *argc);

// Writes arguments with blanks in between to MPI_MAX_INFO_VAL bytes, as many as there is room for, and returns their
// length.
size_t gompi_env_join(char *to, int argc, char *const argv[]);

#pragma GCC visibility pop
#endif
