// Records the members of communicators and groups, which gompirun cannot derive from a handle. It calls PMPI_X, which
// bypasses other tools.

#include <stdlib.h>

#include "insight/pmpi.h"

MPI_Group gompi_insight_world_group(void) {
	MPI_Group world = MPI_GROUP_NULL;
	MPI_Session session = MPI_SESSION_NULL;
	int started = 0, ended = 0;
	GOMPI_CALL_PMPI(MPI_Initialized, &started);
	GOMPI_CALL_PMPI(MPI_Finalized, &ended);
	if (started && !ended) {
		GOMPI_CALL_PMPI(MPI_Comm_group, MPI_COMM_WORLD, &world);
	} else if (GOMPI_CALL_PMPI(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS) {
		GOMPI_CALL_PMPI(MPI_Group_from_session_pset, session, "mpi://WORLD", &world);
		GOMPI_CALL_PMPI(MPI_Session_finalize, &session);
	}
	return world;
}

void gompi_insight_group_members(struct gompi_insight_thread *t, MPI_Group group) {
	MPI_Group world = MPI_GROUP_NULL;
	int n = -1, *ranks = NULL;
	if ((uintptr_t)group > (uintptr_t)MPI_GROUP_NULL && GOMPI_CALL_PMPI(MPI_Group_size, group, &n) == MPI_SUCCESS &&
	    (ranks = malloc(2 * ((size_t)n + 1) * sizeof *ranks)) != NULL &&
	    (world = gompi_insight_world_group()) != MPI_GROUP_NULL) {
		for (int i = 0; i < n; i++)
			ranks[i] = i;
		if (n > 0 &&
		    GOMPI_CALL_PMPI(MPI_Group_translate_ranks, group, n, ranks, world, ranks + n) != MPI_SUCCESS)
			n = -1;
	} else {
		n = -1;
	}
	gompi_insight_add_list(t, n < 0 ? NULL : ranks + n, n, sizeof *ranks);
	if (world != MPI_GROUP_NULL)
		GOMPI_CALL_PMPI(MPI_Group_free, &world);
	free(ranks);
}

void gompi_insight_comm_members(struct gompi_insight_thread *t, MPI_Comm comm) {
	MPI_Group group = MPI_GROUP_NULL;
	if ((uintptr_t)comm > (uintptr_t)MPI_COMM_NULL)
		GOMPI_CALL_PMPI(MPI_Comm_group, comm, &group);
	gompi_insight_group_members(t, group);
	if (group != MPI_GROUP_NULL)
		GOMPI_CALL_PMPI(MPI_Group_free, &group);
}

void gompi_insight_comm_remote(struct gompi_insight_thread *t, MPI_Comm comm) {
	MPI_Group group = MPI_GROUP_NULL;
	if ((uintptr_t)comm > (uintptr_t)MPI_COMM_NULL && gompi_insight_is_inter(comm))
		GOMPI_CALL_PMPI(MPI_Comm_remote_group, comm, &group);
	gompi_insight_group_members(t, group);
	if (group != MPI_GROUP_NULL)
		GOMPI_CALL_PMPI(MPI_Group_free, &group);
}
