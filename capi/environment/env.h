// State that Go sets for env.c.
#ifndef GOMPI_ENV_H
#define GOMPI_ENV_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Sets the fields of gompi_state (base/state.h), from which MPI_Initialized and MPI_Finalized take their results.
void gompi_state_set(bool started, bool running, bool finalized);

// Records that the calling thread has called MPI_Init.
void gompi_set_main_thread(void);

#pragma GCC visibility pop
#endif
