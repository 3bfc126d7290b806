// What Go tells env.c.
#ifndef GOMPI_ENV_H
#define GOMPI_ENV_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// What there is in base/state.h from now on.
void gompi_state_set(bool started, bool running, bool finalized);

// The calling thread is the one that has called MPI_Init.
extern _Thread_local bool gompi_main_thread __attribute__((tls_model("initial-exec")));
void gompi_is_main_thread(void);

#pragma GCC visibility pop
#endif
