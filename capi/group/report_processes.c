// A function for tools (mpix_gompirma.h): the numbers of the members of a group.
#include "group/group.h"

int MPIX_Gompirma_group_processes(MPI_Group group, int processes[]) {
	const struct gompi_group *g = gompi_group_get(group);
	if (g == NULL)
		return MPI_ERR_GROUP;
	if (processes == NULL && g->ranks.n > 0)
		return MPI_ERR_ARG;
	for (int i = 0; i < (int)g->ranks.n; i++)
		processes[i] = gompi_ranks_at(&g->ranks, i);
	return MPI_SUCCESS;
}
