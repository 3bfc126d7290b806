/* Proves: error handlers of communicators work. The default is MPI_ERRORS_ARE_FATAL; MPI_ERRORS_RETURN returns the
 *   code. A user's function is called with the communicator and the code. A duplicate inherits the handler. A freed
 *   handler stays in use on a communicator until MPI_Comm_set_errhandler replaces it. MPI_Comm_call_errhandler calls
 *   the handler with any code. Waits use the handler of the request's communicator. MPI-5.0 9.3.1
 * np: 1 2
 * args: calls wait
 * ref: mpich
 * ref-wrong: wait (MPICH uses the handler of MPI_COMM_WORLD when a completed request failed)
 * timeout: 60
 */
#include "../check.h"

static int calls, last_class, last_code;
static MPI_Comm last_comm;

enum { OWN = 1 << 20 }; /* an error code that MPI does not define */

static void handler(MPI_Comm *comm, int *code, ...) {
	calls++;
	last_comm = *comm;
	last_code = *code;
	if (*code != OWN)
		MPI_Error_class(*code, &last_class);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Errhandler mine, got;
	MPI_Comm comm, copy, split;
	int value = 1, small = 0, pair[2] = {1, 2};
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
	CHECK(got == MPI_ERRORS_ARE_FATAL, "the world's handler at first is not MPI_ERRORS_ARE_FATAL");
	MPI_Errhandler_free(&got);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_create_errhandler(handler, &mine);
	MPI_Comm_set_errhandler(comm, mine);
	MPI_Comm_get_errhandler(comm, &got);
	CHECK(got == mine, "the handler got is not the one set");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	CHECK(mine == MPI_ERRHANDLER_NULL, "the freed handler is not null");

	int code = MPI_Send(&value, 1, MPI_INT, check_size + 5, 0, comm);
	CHECK(calls == 1 && last_class == MPI_ERR_RANK && last_comm == comm, "send: %d calls, class %d", calls,
	      last_class);
	CHECK(check_class(code) == MPI_ERR_RANK, "send returned %d behind the handler", code);
	MPI_Comm_dup(comm, &copy);
	MPI_Recv(&value, -3, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
	CHECK(calls == 2 && last_class == MPI_ERR_COUNT && last_comm == copy, "a duplicate: %d calls, class %d", calls,
	      last_class);
	MPI_Comm_split(comm, 0, check_rank, &split);
	MPI_Bcast(&value, 1, MPI_INT, check_size + 1, split);
	CHECK(calls == 3 && last_class == MPI_ERR_ROOT && last_comm == split, "a split one: %d calls, class %d", calls,
	      last_class);
	CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
	CHECK(calls == 4 && last_class == MPI_ERR_TAG, "called directly: %d calls, class %d", calls, last_class);
	CHECK_OK(MPI_Comm_call_errhandler(comm, OWN));
	CHECK(calls == 5 && last_code == OWN, "called with a code of the program's own: %d calls, code %d", calls,
	      last_code);
	calls = 4;

	if (strcmp(check_arg, "wait") == 0) { /* MPI_Wait finds the error: the message exceeds the receive buffer */
		MPI_Request r;
		MPI_Irecv(&small, 1, MPI_INT, check_rank, 9, copy, &r);
		MPI_Send(pair, 2, MPI_INT, check_rank, 9, copy);
		code = MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK(calls == 5 && last_class == MPI_ERR_TRUNCATE, "wait: %d calls, class %d, returned %d", calls,
		      last_class, code);
	}

	calls = 0;
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -5, copy), MPI_ERR_TAG);
	CHECK(calls == 0, "the replaced handler was called");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) != MPI_SUCCESS,
	      "MPI_ERRHANDLER_NULL was taken");
	MPI_Comm_free(&split);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&comm);
	return check_end();
}
