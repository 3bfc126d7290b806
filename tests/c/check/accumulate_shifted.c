/* clean: Both ranks accumulate two integers with one operation; one integer is common to both (MPI-5.0 12.7.1).
 * race: Both ranks accumulate two integers with one operation. The integers of rank 1 begin within an integer of rank
 * 0, so no element is atomic (MPI-5.0 12.7.1).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=accumulate,accumulate needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value[2] = {1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
#ifdef WRONG
	MPI_Accumulate(value, 2, MPI_INT, 1, rank * 2, 2, MPI_INT, MPI_SUM, win); /* @accumulate */
#else
	MPI_Accumulate(value, 2, MPI_INT, 1, rank * 4, 2, MPI_INT, MPI_SUM, win);
#endif
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
