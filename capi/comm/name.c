// The names of communicators (MPI-5.0 7.8).
#include "attribute/name.h"
#include "base/state.h"
#include "comm/comm.h"
#include "comm/parent.h"
#include "comm/z_calls.h"

int gompi_comm_name(MPI_Comm comm, char *name) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return 0;
	// acquire: pairs with the release in gompi_attributes_make
	return gompi_name_get(gompi_load_acquire(&c->attributes),
			      comm == MPI_COMM_WORLD                   ? GOMPI_DEFAULT_NAME("MPI_COMM_WORLD")
			      : comm == MPI_COMM_SELF                  ? GOMPI_DEFAULT_NAME("MPI_COMM_SELF")
			      : (uintptr_t)comm == gompi_comm_parent() ? GOMPI_DEFAULT_NAME("MPI_COMM_PARENT")
								       : GOMPI_DEFAULT_NAME(""),
			      name);
}

int gompi_comm_set_name(MPI_Comm comm, const char *comm_name) {
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_set_name");
	int rc = gompi_name_set(&v, gompi_attributes_ensure(&c->attributes), comm_name);
	return rc == MPI_SUCCESS ? rc
				 : gompi_return_error(rc, "MPI_Comm_set_name", v.text, GOMPI_ON_COMM, (uintptr_t)comm);
}
GOMPI_ENTRY(MPI_Comm_set_name, gompi_comm_set_name);

int gompi_comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen) {
	static const char call[] = "MPI_Comm_get_name";
	bool null = comm == MPI_COMM_NULL && gompi_load(&gompi_state.running);
	bool has_result = comm_name != NULL && resultlen != NULL;
	if (gompi_comm_get(comm) == NULL && !(null && has_result))
		return gompi_raise_invalid_comm(comm, call);
	if (!has_result)
		return gompi_null_argument_error(call, "comm_name or resultlen", GOMPI_ON_COMM, (uintptr_t)comm);
	*resultlen = null ? gompi_name_get(NULL, GOMPI_DEFAULT_NAME("MPI_COMM_NULL"), comm_name)
			  : gompi_comm_name(comm, comm_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_get_name, gompi_comm_get_name);
