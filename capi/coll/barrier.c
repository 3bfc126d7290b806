#include "base/barrier.h"

#include "base/up.h"
#include "base/verdict.h"
#include "coll/z_calls.h"
#include "comm/comm.h"

// MPI_Barrier (MPI-5.0 6.3): in shared memory where the members have some in common, else over messages, in Go.
int gompi_barrier(MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Barrier");
	if (c->barrier == NULL)
		return gompi_up.barrier_by_messages((uintptr_t)comm);
	struct gompi_waiting what = {"MPI_Barrier", -1, c->handle};
	int rc = gompi_shared_barrier(c->barrier, c->size, c->rank, &c->barriers, &what);
	if (rc == MPI_SUCCESS)
		return rc;
	return gompi_refuse(rc, "MPI_Barrier",
			    "a process of the job ended without calling MPI_Finalize while this one waited for it",
			    GOMPI_ON_COMM, (uintptr_t)comm);
}
