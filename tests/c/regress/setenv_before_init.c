/* Proves: the library uses the variables with the prefix GOMPIRMA_ that the program itself has set before MPI_Init.
 * np: 1 2
 * ref: none (the variables are gompirma's)
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	setenv("GOMPIRMA_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
	check_begin(&argc, &argv);
	CHECK(MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT, "the initial error handler");
	return check_end();
}
