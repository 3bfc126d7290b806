// The word that says if MPI can be called. Go says when that changes (capi/env.go).
#ifndef GOMPI_STATE_H
#define GOMPI_STATE_H

#include "base/order.h"

struct gompi_state {
	atomic_bool started;   // MPI_Init has been called
	atomic_bool running;   // and MPI_Finalize has not
	atomic_bool finalized; // it has
};
extern struct gompi_state gompi_state;

#endif
