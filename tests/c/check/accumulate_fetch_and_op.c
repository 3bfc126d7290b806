/* clean: One origin calls MPI_Fetch_and_op and another MPI_Accumulate; both add to one integer (MPI-5.0 12.7.1).
 * race: One origin multiplies with MPI_Fetch_and_op and another adds with MPI_Accumulate at one integer. By default
 * concurrent accumulates at one location must use the same operation (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, old;
#ifdef WRONG
	MPI_Op ops = MPI_PROD;
#else
	MPI_Op ops = MPI_SUM;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Fetch_and_op(&value, &old, MPI_INT, 2, 0, ops, win); /* @first */
	}
	if (rank == 1)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
