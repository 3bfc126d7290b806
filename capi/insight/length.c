// Determines the lengths of lists that depend on a communicator. It calls PMPI_X, which bypasses other tools.

#include "insight/pmpi.h"

// Returns true if a handle may be a communicator. MPI_COMM_NULL is the lowest handle of the ABI; lower values are not
// communicators.
static bool may_be_comm(MPI_Comm comm) { return (uintptr_t)comm > (uintptr_t)MPI_COMM_NULL; }

bool gompi_insight_is_inter(MPI_Comm comm) {
	int inter = 0;
	return GOMPI_CALL_PMPI(MPI_Comm_test_inter, comm, &inter) == MPI_SUCCESS && inter;
}

int64_t gompi_insight_local_size(MPI_Comm comm) {
	int n = 0;
	return may_be_comm(comm) && GOMPI_CALL_PMPI(MPI_Comm_size, comm, &n) == MPI_SUCCESS ? n : -1;
}

int64_t gompi_insight_peer_count(MPI_Comm comm) {
	int n = 0;
	if (!may_be_comm(comm) || !gompi_insight_is_inter(comm))
		return gompi_insight_local_size(comm);
	return GOMPI_CALL_PMPI(MPI_Comm_remote_size, comm, &n) == MPI_SUCCESS ? n : -1;
}

int64_t gompi_insight_peers_at_root(MPI_Comm comm, int root) {
	int rank = MPI_PROC_NULL;
	if (!may_be_comm(comm))
		return -1;
	if (gompi_insight_is_inter(comm))
		return root == MPI_ROOT ? gompi_insight_peer_count(comm) : -1;
	if (GOMPI_CALL_PMPI(MPI_Comm_rank, comm, &rank) != MPI_SUCCESS || rank != root)
		return -1;
	return gompi_insight_local_size(comm);
}

int64_t gompi_insight_dim_count(MPI_Comm comm) {
	int kind = MPI_UNDEFINED, n = 0;
	if (!may_be_comm(comm) || GOMPI_CALL_PMPI(MPI_Topo_test, comm, &kind) != MPI_SUCCESS || kind != MPI_CART)
		return -1;
	return GOMPI_CALL_PMPI(MPI_Cartdim_get, comm, &n) == MPI_SUCCESS ? n : -1;
}

int64_t gompi_insight_neighbor_count(MPI_Comm comm, bool out) {
	int kind = MPI_UNDEFINED, in = 0, outs = 0, weighted, rank;
	if (!may_be_comm(comm) || GOMPI_CALL_PMPI(MPI_Topo_test, comm, &kind) != MPI_SUCCESS)
		return -1;
	switch (kind) {
	case MPI_CART:
		return 2 * gompi_insight_dim_count(comm);
	case MPI_GRAPH:
		if (GOMPI_CALL_PMPI(MPI_Comm_rank, comm, &rank) != MPI_SUCCESS ||
		    GOMPI_CALL_PMPI(MPI_Graph_neighbors_count, comm, rank, &in) != MPI_SUCCESS)
			return -1;
		return in;
	case MPI_DIST_GRAPH:
		if (GOMPI_CALL_PMPI(MPI_Dist_graph_neighbors_count, comm, &in, &outs, &weighted) != MPI_SUCCESS)
			return -1;
		return out ? outs : in;
	}
	return -1;
}

int64_t gompi_insight_sum_ints(const int *numbers, int n) {
	int64_t sum = 0;
	for (int i = 0; numbers != NULL && i < n; i++)
		sum += numbers[i];
	return sum;
}

int64_t gompi_insight_last_int(const int *numbers, int n) { return numbers != NULL && n > 0 ? numbers[n - 1] : 0; }
