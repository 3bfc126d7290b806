/* clean: One origin adds to an integer and reads it with MPI_NO_OP: accumulates of one origin are ordered (MPI-5.0
 * 12.7.2).
 * race: One origin adds to an integer and gets it: gets are not ordered with accumulates (MPI-5.0 12.7.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, result;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
#ifdef WRONG
		MPI_Get(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
#else
		MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_NO_OP, win);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
