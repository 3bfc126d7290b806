/* clean: A receive names its source, on a communicator with the hint mpi_assert_no_any_source (MPI-5.0 7.4.4).
 * error: A receive uses MPI_ANY_SOURCE on a communicator with the hint mpi_assert_no_any_source (MPI-5.0 7.4.4).
 *
 * np: 2
 * ref: mpich
 * find: hint name=mpi_assert_no_any_source lines=use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[4] = {1, 2, 3, 4};
	MPI_Info info;
	MPI_Comm copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_no_any_source", "true");
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
	MPI_Info_free(&info);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	if (rank == 0)
#ifdef WRONG
		MPI_Recv(values, 2, MPI_INT, MPI_ANY_SOURCE, 7, copy, MPI_STATUS_IGNORE); /* @use */
#else
		MPI_Recv(values, 2, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE);
#endif
	if (rank == 1)
		MPI_Send(values, 2, MPI_INT, 0, 7, copy);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
