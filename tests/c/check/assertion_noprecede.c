/* clean: The first fence asserts that no operation precedes it, which is true (MPI-5.0 12.5.5).
 * error: A fence asserts that no operation precedes it, but a put does (MPI-5.0 12.5.5). The fence may return an error.
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOPRECEDE window=q lines=put,fence needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @put */
#ifdef WRONG
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win); /* @fence */
#endif
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
