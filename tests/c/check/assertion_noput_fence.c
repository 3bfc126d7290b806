/* clean: Rank 2 asserts that no rank puts to its window before the next fence; rank 0 only gets (MPI-5.0 12.5.5).
 * error: Rank 2 asserts that no rank puts to its window before the next fence, but rank 0 puts (MPI-5.0 12.5.5).
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOPUT window=q lines=fence,put needs=calls
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

	MPI_Win_fence(rank == 2 ? MPI_MODE_NOPUT : 0, win); /* @fence */
	if (rank == 0)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @put */
#else
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
