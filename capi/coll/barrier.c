#include "base/barrier.h"

#include "base/up.h"
#include "base/verdict.h"
#include "coll/hierarchy.h"
#include "coll/z_calls.h"
#include "comm/comm.h"

static __attribute__((noinline)) int barrier_refused(int rc, MPI_Comm comm) {
	return gompi_refuse(rc, "MPI_Barrier", gompi_slots_text(rc), GOMPI_ON_COMM, (uintptr_t)comm);
}

static __attribute__((noinline)) int barrier_elsewhere(struct gompi_comm *c, MPI_Comm comm) {
	if (c->hierarchy == NULL)
		return gompi_up.barrier_by_messages((uintptr_t)comm);
	struct gompi_slots_call call = {.kind = GOMPI_BARRIER, .name = "MPI_Barrier"};
	int rc = gompi_hierarchy_run(c->hierarchy, &call);
	return rc == MPI_SUCCESS ? rc : barrier_refused(rc, comm);
}

// Implements MPI_Barrier (MPI-5.0 6.3): in shared memory if all members share some, hierarchically over several nodes,
// else with messages, in Go.
int gompi_barrier(MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Barrier");
	if (c->barrier == NULL)
		return barrier_elsewhere(c, comm);
	struct gompi_waiting what = {.call = "MPI_Barrier", .peer = -1, .object = c->handle};
	int rc = gompi_shared_barrier(c->barrier, c->size, c->rank, &c->barriers, &what);
	return rc == MPI_SUCCESS ? rc : barrier_refused(rc, comm);
}
GOMPI_ENTRY(MPI_Barrier, gompi_barrier);
