// Queries on communicators: kind, groups and comparison (MPI-5.0 7.4.1 and 7.6.1). Nothing blocks or communicates.
#include "comm/comm.h"

#include "base/verdict.h"
#include "comm/z_calls.h"

int gompi_comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result) {
	static const char call[] = "MPI_Comm_compare";
	const struct gompi_comm *a = gompi_comm_get(comm1), *b = gompi_comm_get(comm2);
	if (a == NULL)
		return gompi_not_a_communicator(comm1, call);
	if (b == NULL)
		return gompi_refuse(MPI_ERR_COMM, call, "comm2 is not a communicator, or has been freed", GOMPI_ON_COMM,
				    (uintptr_t)comm1);
	if (result == NULL)
		return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm1);
	if (a == b) {
		*result = MPI_IDENT;
	} else if (a->inter != b->inter) {
		*result = MPI_UNEQUAL;
	} else {
		int like = gompi_ranks_compare(&a->members, &b->members);
		if (a->inter) { // the constants increase with decreasing similarity
			int remote = gompi_ranks_compare(&a->peers, &b->peers);
			like = remote > like ? remote : like;
		}
		*result = like == MPI_IDENT ? MPI_CONGRUENT : like;
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_compare, gompi_comm_compare);

int gompi_comm_test_inter(MPI_Comm comm, int *flag) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_test_inter");
	if (flag == NULL)
		return gompi_no_place("MPI_Comm_test_inter", GOMPI_ON_COMM, (uintptr_t)comm);
	*flag = c->inter;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_test_inter, gompi_comm_test_inter);

static int not_inter(const char *call, MPI_Comm comm) {
	return gompi_refuse(MPI_ERR_COMM, call, "the communicator is an intracommunicator, which has no remote group",
			    GOMPI_ON_COMM, (uintptr_t)comm);
}

int gompi_comm_remote_size(MPI_Comm comm, int *size) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_remote_size");
	if (!c->inter)
		return not_inter("MPI_Comm_remote_size", comm);
	if (size == NULL)
		return gompi_no_place("MPI_Comm_remote_size", GOMPI_ON_COMM, (uintptr_t)comm);
	*size = c->peers.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_remote_size, gompi_comm_remote_size);

// Stores a handle of a communicator's group.
static int hold_of_comm(const char *call, MPI_Comm comm, struct gompi_group **owned, const struct gompi_ranks *members,
			MPI_Group *group) {
	if (group == NULL)
		return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm);
	int class = gompi_group_hold(owned, members, group);
	return class == MPI_SUCCESS ? class : gompi_no_more_groups(call, GOMPI_ON_COMM, (uintptr_t)comm);
}

int gompi_comm_group(MPI_Comm comm, MPI_Group *group) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_group");
	return hold_of_comm("MPI_Comm_group", comm, &c->group, &c->members, group);
}
GOMPI_ENTRY(MPI_Comm_group, gompi_comm_group);

int gompi_comm_remote_group(MPI_Comm comm, MPI_Group *group) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_remote_group");
	if (!c->inter)
		return not_inter("MPI_Comm_remote_group", comm);
	return hold_of_comm("MPI_Comm_remote_group", comm, &c->remote_group, &c->peers, group);
}
GOMPI_ENTRY(MPI_Comm_remote_group, gompi_comm_remote_group);
