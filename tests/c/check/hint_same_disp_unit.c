/* clean: The window has the hint same_disp_unit, and all displacement units are the same (MPI-5.0 12.2.1).
 * error: The window has the hint same_disp_unit, but the displacement units differ (MPI-5.0 12.2.1).
 *
 * np: 2
 * ref: mpich
 * find: hint name=same_disp_unit lines=use
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
	MPI_Info_set(info, "same_disp_unit", "true");
#ifdef WRONG
	MPI_Win_create(mem, sizeof mem, rank == 0 ? 4 : 1, info, MPI_COMM_WORLD, &win); /* @use */
#else
	MPI_Win_create(mem, sizeof mem, sizeof(int), info, MPI_COMM_WORLD, &win);
#endif
	MPI_Info_free(&info);
	if (win != MPI_WIN_NULL)
		MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
