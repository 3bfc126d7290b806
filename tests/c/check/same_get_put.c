/* clean: One origin gets an integer, flushes locally and puts to the integer: the local flush completes the get.
 * race: One origin gets an integer and puts to it while the get may still be in progress (MPI-5.0 12.3).
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
		MPI_Get(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush_local(1, win);
#endif
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
