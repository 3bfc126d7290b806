/* clean: One origin compares and swaps an integer, flushes, and puts to the integer.
 * race: One origin compares and swaps an integer and puts to it in one epoch. Puts are not ordered with accumulates
 * (MPI-5.0 12.7.2).
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
	int value = 1, expected = 0, old, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		MPI_Compare_and_swap(&value, &expected, &old, MPI_INT, 1, 0, win); /* @first */
#ifndef WRONG
		MPI_Win_flush(1, win);
#endif
		MPI_Put(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(1, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
