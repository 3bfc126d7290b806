// The communicator of MPI_Comm_get_parent (MPI-5.0 11.8.2).
#ifndef GOMPI_COMM_PARENT_H
#define GOMPI_COMM_PARENT_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Sets the intercommunicator with the processes that started this job.
void gompi_comm_set_parent(uintptr_t handle);

// Returns the handle of this intercommunicator, which the application may have freed; 0 if MPI did not start this job.
uintptr_t gompi_comm_parent(void);

#pragma GCC visibility pop
#endif
