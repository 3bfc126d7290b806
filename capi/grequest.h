// The user's functions of generalized requests.
#ifndef GOMPI_GREQUEST_H
#define GOMPI_GREQUEST_H

#include <stdint.h>

#include "base/abi.h"

int gompi_call_query(uintptr_t function, uintptr_t extra_state, MPI_Status *status);
int gompi_call_free(uintptr_t function, uintptr_t extra_state);
int gompi_call_cancel(uintptr_t function, uintptr_t extra_state, int complete);

#endif
