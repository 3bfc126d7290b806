/* Proves: errors that belong to no object call the error handler of MPI_COMM_WORLD until the program sets the handler
 *   of MPI_COMM_SELF. This is the MPI-3 rule, which most programs expect. After the program has set it, such errors
 *   call the handler of MPI_COMM_SELF, as the standard requires since MPI-4. MPI-5.0 9.3
 * np: 1 2
 * ref: none (each library version follows one of the two rules)
 * timeout: 60
 */
#include "../check.h"

static int calls;
static MPI_Comm last;

static void handler(MPI_Comm *comm, int *code, ...) {
	(void)code;
	calls++;
	last = *comm;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Errhandler mine;
	MPI_Datatype none = MPI_DATATYPE_NULL, t;
	int size;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Type_size(none, &size), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);

	MPI_Comm_create_errhandler(handler, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
	CHECK_CLASS(MPI_Type_size(none, &size), MPI_ERR_TYPE);
	CHECK(calls == 1 && last == MPI_COMM_WORLD, "%d calls of the world's handler", calls);

	MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	CHECK_CLASS(MPI_Type_size(none, &size), MPI_ERR_TYPE);
	CHECK(calls == 2 && last == MPI_COMM_SELF, "%d calls of the process' own handler", calls);
	MPI_Errhandler_free(&mine);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Type_size(none, &size), MPI_ERR_TYPE);
	return check_end();
}
