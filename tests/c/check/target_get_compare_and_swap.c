/* clean: One origin gets and flushes locally, which completes the get. Another compares and swaps after the barrier.
 * race: One origin gets and does not complete the get before the barrier. Another compares and swaps after the barrier
 * (MPI-5.0 12.3, 12.7).
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
	int value = 1, expected = 0, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush_local(2, win);
#endif
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Compare_and_swap(&value, &expected, &old, MPI_INT, 2, 0, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
