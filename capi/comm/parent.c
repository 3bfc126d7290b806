#include "comm/parent.h"

#include "base/error_status.h"
#include "base/state.h"
#include "comm/comm.h"
#include "comm/z_calls.h"

static _Atomic uintptr_t parent; // handle; 0 if no processes of MPI started this job

void gompi_comm_set_parent(uintptr_t handle) { gompi_store(&parent, handle); }

uintptr_t gompi_comm_parent(void) { return gompi_load(&parent); }

// Stores MPI_COMM_NULL if the job was not spawned, or if the application has freed or disconnected the communicator.
int gompi_comm_get_parent(MPI_Comm *to) {
	static const char call[] = "MPI_Comm_get_parent";
	if (!gompi_load(&gompi_state.running))
		return gompi_return_error(MPI_ERR_OTHER, call, "MPI is not initialized, or has been finalized",
					  GOMPI_ON_NONE, 0);
	if (to == NULL)
		return gompi_null_argument_error(call, "parent", GOMPI_ON_NONE, 0);
	const uintptr_t h = gompi_load(&parent);
	*to = h != 0 && gompi_comm_get((MPI_Comm)h) != NULL ? (MPI_Comm)h : MPI_COMM_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_get_parent, gompi_comm_get_parent);
