// The names of communicators (MPI-5.0 7.8).
#include "attribute/name.h"
#include "base/state.h"
#include "comm/comm.h"
#include "comm/z_calls.h"

int gompi_comm_name(MPI_Comm comm, char *name) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return 0;
	// acquire: pairs with the release in gompi_attributes_make
	return gompi_name_get(gompi_load_acquire(&c->attributes),
			      comm == MPI_COMM_WORLD  ? GOMPI_UNNAMED("MPI_COMM_WORLD")
			      : comm == MPI_COMM_SELF ? GOMPI_UNNAMED("MPI_COMM_SELF")
						      : GOMPI_UNNAMED(""),
			      name);
}

int gompi_comm_set_name(MPI_Comm comm, const char *comm_name) {
	struct gompi_verdict v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_not_a_communicator(comm, "MPI_Comm_set_name");
	int rc = gompi_name_set(&v, gompi_attributes_open(&c->attributes), comm_name);
	return rc == MPI_SUCCESS ? rc : gompi_refuse(rc, "MPI_Comm_set_name", v.text, GOMPI_ON_COMM, (uintptr_t)comm);
}
GOMPI_ENTRY(MPI_Comm_set_name, gompi_comm_set_name);

int gompi_comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen) {
	static const char call[] = "MPI_Comm_get_name";
	bool null = comm == MPI_COMM_NULL && gompi_load(&gompi_state.running);
	bool place = comm_name != NULL && resultlen != NULL;
	if (gompi_comm_get(comm) == NULL && !(null && place))
		return gompi_not_a_communicator(comm, call);
	if (!place)
		return gompi_no_place(call, GOMPI_ON_COMM, (uintptr_t)comm);
	*resultlen = null ? gompi_name_get(NULL, GOMPI_UNNAMED("MPI_COMM_NULL"), comm_name)
			  : gompi_comm_name(comm, comm_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_get_name, gompi_comm_get_name);
