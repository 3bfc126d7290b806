/* clean: One origin puts and flushes before a barrier. Another compares and swaps after the barrier.
 * race: One origin puts to an integer that another compares and swaps: put and accumulate conflict (MPI-5.0 12.3).
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
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
	}
#else
		MPI_Win_flush(2, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Compare_and_swap(&value, &expected, &old, MPI_INT, 2, 0, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
