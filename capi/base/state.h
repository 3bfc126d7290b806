// The state of MPI in this process. Go updates it (capi/environment.go).
#ifndef GOMPI_STATE_H
#define GOMPI_STATE_H

#include "base/atomics.h"

struct gompi_state {
	atomic_bool started;   // MPI_Init has been called
	atomic_bool running;   // MPI_Init has been called, MPI_Finalize has not
	atomic_bool finalized; // MPI_Finalize has been called
};
extern struct gompi_state gompi_state;

#endif
