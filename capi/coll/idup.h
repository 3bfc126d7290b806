// MPI_Comm_idup among members that share memory: what member 0 has for a new communicator of them all goes over the
// board, and, should it be something that a member may fail at, how that went. Go makes the communicator of it.
#ifndef GOMPI_IDUP_H
#define GOMPI_IDUP_H

#include <stdbool.h>
#include <stdint.h>

enum { GOMPI_IDUP_TOLD = 25 }; // bytes that member 0 tells, comm.Draft's; the first is not 0 if nobody can fail

#pragma GCC visibility push(hidden)

// Starts it on a communicator with a board, and stores the request. told is copied; gompi_up.idup_over is called with
// number when it is over, which may be at once. false: there is no memory.
bool gompi_idup_start(uintptr_t comm, const void *told, uintptr_t number, uintptr_t request);

#pragma GCC visibility pop
#endif
