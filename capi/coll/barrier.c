#include "base/barrier.h"

#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "coll/hierarchy.h"
#include "coll/z_calls.h"
#include "comm/comm.h"

static __attribute__((noinline)) int raise_barrier_error(int rc, MPI_Comm comm) {
	return gompi_return_error(rc, "MPI_Barrier", gompi_shm_error_text(rc), GOMPI_ON_COMM, (uintptr_t)comm);
}

static __attribute__((noinline)) int barrier_slow_path(struct gompi_comm *c, MPI_Comm comm) {
	if (c->hierarchy == NULL)
		return gompi_go_callbacks.barrier_messages((uintptr_t)comm);
	struct gompi_coll_call call = {.kind = GOMPI_BARRIER, .name = "MPI_Barrier"};
	int rc = gompi_hierarchy_run(c->hierarchy, &call);
	return rc == MPI_SUCCESS ? rc : raise_barrier_error(rc, comm);
}

// Implements MPI_Barrier (MPI-5.0 6.3). The barrier runs in shared memory if all members share memory, and in two
// levels if they are on several nodes (hierarchy.h). Otherwise Go runs it with messages.
int gompi_barrier(MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_usable(comm);
	if (c == NULL)
		return gompi_comm_get(comm) != NULL ? gompi_go_callbacks.barrier_messages((uintptr_t)comm)
						    : gompi_raise_invalid_comm(comm, "MPI_Barrier");
	if (c->barrier == NULL)
		return barrier_slow_path(c, comm);
	struct gompi_wait_desc waiting = {.call = "MPI_Barrier", .peer = -1, .object = c->handle};
	int rc = gompi_shared_barrier(c->barrier, c->size, c->rank, &c->barrier_count, &waiting);
	return rc == MPI_SUCCESS ? rc : raise_barrier_error(rc, comm);
}
GOMPI_ENTRY(MPI_Barrier, gompi_barrier);
