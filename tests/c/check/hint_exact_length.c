/* clean: A receive is as long as its message, on a communicator with the hint mpi_assert_exact_length (MPI-5.0 7.4.4).
 * error: A receive is longer than its message, on a communicator with the hint mpi_assert_exact_length (MPI-5.0 7.4.4).
 *
 * np: 2
 * ref: mpich
 * find: hint name=mpi_assert_exact_length lines=use
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
	MPI_Info_set(info, "mpi_assert_exact_length", "true");
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
	MPI_Info_free(&info);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	if (rank == 0)
#ifdef WRONG
		MPI_Recv(values, 4, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE); /* @use */
#else
		MPI_Recv(values, 2, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE);
#endif
	if (rank == 1)
		MPI_Send(values, 2, MPI_INT, 0, 7, copy);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
