// What a communicator is and whether it is like another (MPI-5.0 7.4.1 and 7.6.1). Nothing blocks or communicates; Go
// is asked about intercommunicators and long lists.
#include "comm/comm.h"

#include "base/up.h"
#include "base/verdict.h"
#include "comm/z_calls.h"

int gompi_comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result) {
	static const char call[] = "MPI_Comm_compare";
	const struct gompi_comm *a = gompi_comm_get(comm1), *b = gompi_comm_get(comm2);
	if (a == NULL)
		return gompi_not_a_communicator(comm1, call);
	if (b == NULL)
		return gompi_refuse(MPI_ERR_COMM, call, "comm2 is no communicator, or one that was freed",
				    GOMPI_ON_COMM, (uintptr_t)comm1);
	if (result == NULL)
		return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm1);
	if (a == b) {
		*result = MPI_IDENT;
	} else if (a->inter != b->inter) {
		*result = MPI_UNEQUAL;
	} else if (a->inter || !gompi_ranks_few(&b->peers)) {
		*result = gompi_up.compare_comms((uintptr_t)comm1, (uintptr_t)comm2);
	} else {
		int members = gompi_ranks_compare(&a->peers, &b->peers);
		*result = members == MPI_IDENT ? MPI_CONGRUENT : members;
	}
	return MPI_SUCCESS;
}

int gompi_comm_test_inter(MPI_Comm comm, int *flag) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_test_inter");
	if (flag == NULL)
		return gompi_no_place("MPI_Comm_test_inter", GOMPI_ON_COMM, (uintptr_t)comm);
	*flag = c->inter;
	return MPI_SUCCESS;
}

int gompi_comm_remote_size(MPI_Comm comm, int *size) {
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_remote_size");
	if (!c->inter)
		return gompi_refuse(MPI_ERR_COMM, "MPI_Comm_remote_size",
				    "it is an intracommunicator: it has no remote group", GOMPI_ON_COMM,
				    (uintptr_t)comm);
	if (size == NULL)
		return gompi_no_place("MPI_Comm_remote_size", GOMPI_ON_COMM, (uintptr_t)comm);
	*size = c->peers.n;
	return MPI_SUCCESS;
}
