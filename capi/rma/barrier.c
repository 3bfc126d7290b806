#include "rma/barrier.h"

#include "base/call_name.h"
#include "message/leaders.h"

// Executes a barrier of the members on this node of a window that spans nodes. Between the two halves of the barrier,
// the node leader executes a barrier of all node leaders. The argument `leaders` is NULL if this process is not a node
// leader, or if the barrier concerns only this node.
static int two_level_barrier(struct gompi_win *w, const struct gompi_wait_desc *waiting,
			     struct gompi_leaders *leaders) {
	int rc = gompi_barrier_gather(w->barrier, w->local_size, w->local_rank, &w->barrier_count, waiting);
	if (rc == MPI_SUCCESS && leaders != NULL)
		rc = gompi_leaders_barrier(leaders, waiting);
	return rc == MPI_SUCCESS
		       ? gompi_barrier_release(w->barrier, w->local_size, w->local_rank, w->barrier_count, waiting)
		       : rc;
}

int gompi_win_barrier(struct gompi_win *w, const struct gompi_wait_desc *waiting) {
	if (w->remote == NULL)
		return gompi_win_node_barrier(w, waiting);
	return two_level_barrier(w, waiting, w->leaders);
}

int gompi_win_free_barrier(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return MPI_ERR_WIN;
	struct gompi_wait_desc waiting = {.call = gompi_call_name, .peer = -1, .object = handle};
	return gompi_win_barrier(w, &waiting);
}

int gompi_win_create_barrier(uintptr_t handle, uintptr_t comm) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return MPI_ERR_WIN;
	struct gompi_wait_desc waiting = {.call = gompi_call_name, .peer = -1, .object = comm};
	return two_level_barrier(w, &waiting, NULL);
}

bool gompi_win_join_leaders(uintptr_t handle, uint64_t context, int nodes, int me, const int32_t *leaders) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return false;
	if (nodes == 2 && w->local_size == 1)
		w->partner = leaders[1 - me];
	w->leaders = gompi_leaders_open(NULL, context, nodes, me, leaders);
	return w->leaders != NULL;
}

void gompi_win_leave_leaders(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return;
	gompi_leaders_close(w->leaders);
	w->leaders = NULL;
}
