// Records the members of communicators and groups, which gompirun cannot derive from a handle. It calls PMPI_X, which
// bypasses other tools.

#include <stdlib.h>
#include <string.h>

#include "insight/pmpi.h"

// Returns the group of all processes of the job, which the caller frees; MPI_GROUP_NULL if MPI is not initialized. If
// there is no MPI_COMM_WORLD, uses a session of its own.
static MPI_Group job_group(void) {
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

// Returns the part of the process with a number (MPIX_Gompirma_group_processes), or -1 if it is not recorded.
static int part_of_number(int number) {
	bool is_known = number >= 0 && number < GOMPI_INSIGHT_MAX_PARTS;
	return is_known ? (int)gompi_load(&gompi_insight_job->parts[number]) - 1 : -1;
}

// Replaces the ranks of the n members of a group in MPI_COMM_WORLD by the indices of their parts. The rank of a member
// of another job is MPI_UNDEFINED. `numbers` has space for n elements.
static void replace_by_parts(MPI_Group group, int n, int *ranks, int *numbers) {
	__typeof__(MPIX_Gompirma_group_processes) *processes = NULL;
	for (int i = 0; i < n; i++) {
		if (ranks[i] >= 0) {
			ranks[i] += (int)gompi_insight_part->first;
			continue;
		}
		if (processes == NULL) {
			processes = gompi_insight_next_symbol("MPIX_Gompirma_group_processes");
			if (processes == NULL || processes(group, numbers) != MPI_SUCCESS)
				memset(numbers, -1, (size_t)n * sizeof *numbers);
		}
		ranks[i] = part_of_number(numbers[i]);
	}
}

int *gompi_insight_group_parts(MPI_Group group, int *n) {
	MPI_Group world = MPI_GROUP_NULL;
	int *parts = NULL, *ranks;
	if ((uintptr_t)group <= (uintptr_t)MPI_GROUP_NULL || GOMPI_CALL_PMPI(MPI_Group_size, group, n) != MPI_SUCCESS ||
	    (parts = malloc(2 * ((size_t)*n + 1) * sizeof *parts)) == NULL || (world = job_group()) == MPI_GROUP_NULL)
		goto failed;
	ranks = parts + *n;
	for (int i = 0; i < *n; i++)
		ranks[i] = i;
	if (*n > 0 && GOMPI_CALL_PMPI(MPI_Group_translate_ranks, group, *n, ranks, world, parts) != MPI_SUCCESS)
		goto failed;
	replace_by_parts(group, *n, parts, ranks);
	GOMPI_CALL_PMPI(MPI_Group_free, &world);
	return parts;
failed:
	if (world != MPI_GROUP_NULL)
		GOMPI_CALL_PMPI(MPI_Group_free, &world);
	free(parts);
	return NULL;
}

void gompi_insight_group_members(struct gompi_insight_thread *t, MPI_Group group) {
	int n = 0, *parts = gompi_insight_group_parts(group, &n);
	gompi_insight_add_list(t, parts, parts == NULL ? -1 : n, sizeof *parts);
	free(parts);
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
