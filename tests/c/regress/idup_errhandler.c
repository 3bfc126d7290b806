/* Proves: MPI_Comm_set_errhandler works on a communicator while its duplication by MPI_Comm_idup is in progress. The
 *   standard does not permit this use (MPI-5.0 7.4.2), but mpi4py sets the error handler of each new communicator at
 *   once. The new error handler replaces the inherited one. A handle that is freed or invalid is still refused.
 * np: 1 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include <unistd.h>

#include "../check.h"

static int calls;

static void on_error(MPI_Comm *c, int *code, ...) {
	(void)c, (void)code;
	calls++;
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	MPI_Comm parent, c;
	MPI_Errhandler handler, found;
	MPI_Request request;
	MPI_Comm_dup(MPI_COMM_WORLD, &parent);
	for (int late = 0; late < 3; late++) {
		MPI_Comm_set_errhandler(parent, MPI_ERRORS_ARE_FATAL);
		MPI_Comm_create_errhandler(on_error, &handler);
		if (late > 0 && check_rank == (late == 1 ? 0 : check_size - 1))
			usleep(100000);
		CHECK_OK(MPI_Comm_idup(parent, &c, &request));
		CHECK_OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
		CHECK_OK(MPI_Comm_set_errhandler(c, handler));
		CHECK_OK(MPI_Errhandler_free(&handler));
		CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		calls = 0;
		CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, check_size, 0, c), MPI_ERR_RANK);
		CHECK(calls == 1, "%d calls of the error handler", calls);
		MPI_Comm_get_errhandler(c, &found);
		CHECK(found != MPI_ERRORS_ARE_FATAL && found != MPI_ERRORS_RETURN, "the error handler is %p",
		      (void *)found);
		MPI_Errhandler_free(&found);
		MPI_Comm freed = c;
		CHECK_OK(MPI_Comm_free(&c));
		CHECK_CLASS(MPI_Comm_set_errhandler(freed, MPI_ERRORS_RETURN), MPI_ERR_COMM);
	}
	MPI_Comm_free(&parent);
	return check_end();
}
