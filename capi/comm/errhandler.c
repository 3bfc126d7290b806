// Error handlers of communicators (MPI-5.0 9.3.1 and 9.5).
#include "base/error_status.h"
#include "base/go_callbacks.h"
#include "comm/comm.h"
#include "comm/z_calls.h"

atomic_bool gompi_comm_self_handler_set;

int gompi_comm_call_errhandler(MPI_Comm comm, int errorcode) {
	static const char call[] = "MPI_Comm_call_errhandler";
	const struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	return gompi_errhandler_call(&c->errhandler, call, errorcode, GOMPI_ON_COMM, (uintptr_t)comm);
}
GOMPI_ENTRY(MPI_Comm_call_errhandler, gompi_comm_call_errhandler);

// Sets the error handler of a communicator whose MPI_Comm_idup is in progress. Returns false if comm is no such
// communicator.
__attribute__((cold)) static bool is_pending_set(MPI_Comm comm, MPI_Errhandler errhandler) {
	return gompi_go_callbacks.pending_comm_set_errhandler != NULL &&
	       gompi_go_callbacks.pending_comm_set_errhandler((uintptr_t)comm, (uintptr_t)errhandler);
}

int gompi_comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
	static const char call[] = "MPI_Comm_set_errhandler";
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL && is_pending_set(comm, errhandler))
		return MPI_SUCCESS;
	if (c == NULL && (c = gompi_comm_get(comm)) == NULL) // its duplication may have completed meanwhile
		return gompi_raise_invalid_comm(comm, call);
	if (gompi_errhandler_attach(&v, GOMPI_ON_COMM, &c->errhandler, errhandler) != MPI_SUCCESS)
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_COMM, (uintptr_t)comm);
	if (comm == MPI_COMM_SELF)
		gompi_store(&gompi_comm_self_handler_set, true);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_set_errhandler, gompi_comm_set_errhandler);

int gompi_comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_Comm_get_errhandler";
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_COMM, (uintptr_t)comm);
	*errhandler = (MPI_Errhandler)gompi_errhandler_acquire(&c->errhandler);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_get_errhandler, gompi_comm_get_errhandler);
