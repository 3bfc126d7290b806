// State that Go sets for env.c.
#ifndef GOMPI_ENV_H
#define GOMPI_ENV_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Sets the fields of gompi_state (base/state.h).
void gompi_state_set(bool started, bool running, bool finalized);

// True in the thread that called MPI_Init. gompi_set_main_thread sets it for the calling thread.
extern _Thread_local bool gompi_main_thread __attribute__((tls_model("initial-exec")));
void gompi_set_main_thread(void);

#pragma GCC visibility pop
#endif
