/* Proves: the variable GOMPIRMA_INITIAL_ERRHANDLER, which `gompirun -initial-errhandler` sets, states the initial error
 *   handler of MPI_COMM_WORLD and MPI_COMM_SELF. Errors that belong to no object are raised on MPI_COMM_SELF, and
 *   derived communicators inherit the handler. MPI-5.0 9.1.2 and 11.5
 * np: 1 2
 * timeout: 30
 * env: GOMPIRMA_INITIAL_ERRHANDLER=mpi_errors_return
 */
#include "../check.h"

int main(int argc, char **argv) {
	MPI_Errhandler h;
	MPI_Comm dup;
	int value;
	MPI_Init(&argc, &argv);
	CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &h));
	CHECK(h == MPI_ERRORS_RETURN, "the handler of MPI_COMM_WORLD is %p", (void *)h);
	CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &h));
	CHECK(h == MPI_ERRORS_RETURN, "the handler of MPI_COMM_SELF is %p", (void *)h);
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){0}), MPI_ERR_COUNT);
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 1000, 0, dup), MPI_ERR_RANK);
	CHECK_OK(MPI_Comm_free(&dup));
	check_started(argc, argv);
	return check_end();
}
