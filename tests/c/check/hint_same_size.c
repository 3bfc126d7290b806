/* clean: The window has the hint same_size, and all sizes are the same (MPI-5.0 12.2.1).
 * error: The window has the hint same_size, but the sizes differ (MPI-5.0 12.2.1).
 *
 * np: 2
 * ref: mpich
 * find: hint name=same_size lines=use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Info info;
	MPI_Win win = MPI_WIN_NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Info_create(&info);
	MPI_Info_set(info, "same_size", "true");
#ifdef WRONG
	MPI_Win_create(mem, rank == 0 ? 16 : 32, sizeof(int), info, MPI_COMM_WORLD, &win); /* @use */
#else
	MPI_Win_create(mem, sizeof mem, sizeof(int), info, MPI_COMM_WORLD, &win);
#endif
	MPI_Info_free(&info);
	if (win != MPI_WIN_NULL)
		MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
