// Queries on communicators: kind, groups and comparison (MPI-5.0 7.4.1 and 7.6.1). These calls neither block nor
// communicate.
#include "comm/comm.h"

#include "base/error_status.h"
#include "comm/z_calls.h"

int gompi_comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result) {
	static const char call[] = "MPI_Comm_compare";
	const struct gompi_comm *a = gompi_comm_get(comm1), *b = gompi_comm_get(comm2);
	if (a == NULL)
		return gompi_raise_invalid_comm(comm1, call);
	if (b == NULL)
		return gompi_return_error(MPI_ERR_COMM, call, "comm2 is not a communicator, or has been freed",
					  GOMPI_ON_COMM, (uintptr_t)comm1);
	if (result == NULL)
		return gompi_null_argument_error(call, "result", GOMPI_ON_COMM, (uintptr_t)comm1);
	if (a == b) {
		*result = MPI_IDENT;
	} else if (a->is_inter != b->is_inter) {
		*result = MPI_UNEQUAL;
	} else {
		int similarity = gompi_ranks_compare(&a->members, &b->members);
		if (a->is_inter) { // MPI_IDENT, MPI_SIMILAR and MPI_UNEQUAL are in ascending order
			int remote = gompi_ranks_compare(&a->peers, &b->peers);
			similarity = remote > similarity ? remote : similarity;
		}
		*result = similarity == MPI_IDENT ? MPI_CONGRUENT : similarity;
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_compare, gompi_comm_compare);

int gompi_comm_test_inter(MPI_Comm comm, int *flag) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_test_inter");
	if (flag == NULL)
		return gompi_null_argument_error("MPI_Comm_test_inter", "flag", GOMPI_ON_COMM, (uintptr_t)comm);
	*flag = c->is_inter;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_test_inter, gompi_comm_test_inter);

static int raise_not_inter(const char *call, MPI_Comm comm) {
	return gompi_return_error(MPI_ERR_COMM, call,
				  "the communicator is an intracommunicator; the call needs an intercommunicator",
				  GOMPI_ON_COMM, (uintptr_t)comm);
}

int gompi_comm_remote_size(MPI_Comm comm, int *size) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_remote_size");
	if (!c->is_inter)
		return raise_not_inter("MPI_Comm_remote_size", comm);
	if (size == NULL)
		return gompi_null_argument_error("MPI_Comm_remote_size", "size", GOMPI_ON_COMM, (uintptr_t)comm);
	*size = c->peers.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_remote_size, gompi_comm_remote_size);

// Stores a handle of one group of a communicator: `members` are its members, and *owned is the communicator's pointer
// to it. Raises an error on failure.
static int acquire_comm_group(const char *call, MPI_Comm comm, struct gompi_group **owned,
			      const struct gompi_ranks *members, MPI_Group *group) {
	if (group == NULL)
		return gompi_null_argument_error(call, "group", GOMPI_ON_COMM, (uintptr_t)comm);
	int class = gompi_group_acquire(owned, members, group);
	return class == MPI_SUCCESS ? class : gompi_raise_no_group_memory(call, GOMPI_ON_COMM, (uintptr_t)comm);
}

int gompi_comm_group(MPI_Comm comm, MPI_Group *group) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_group");
	return acquire_comm_group("MPI_Comm_group", comm, &c->group, &c->members, group);
}
GOMPI_ENTRY(MPI_Comm_group, gompi_comm_group);

int gompi_comm_remote_group(MPI_Comm comm, MPI_Group *group) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_remote_group");
	if (!c->is_inter)
		return raise_not_inter("MPI_Comm_remote_group", comm);
	return acquire_comm_group("MPI_Comm_remote_group", comm, &c->remote_group, &c->peers, group);
}
GOMPI_ENTRY(MPI_Comm_remote_group, gompi_comm_remote_group);
