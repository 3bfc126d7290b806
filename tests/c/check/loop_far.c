/* clean: Rank 0 puts a hundred times to eight integers cyclically, with a flush in each cycle.
 * race: Rank 0 puts a hundred times to eight integers cyclically, without a flush. Puts eight iterations apart have the
 * same target (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
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
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		for (int i = 0; i < 100; i++) {
#ifndef WRONG
			if (i % 8 == 0)
				MPI_Win_flush(1, win);
#endif
			MPI_Put(&value, 1, MPI_INT, 1, i % 8, 1, MPI_INT, win); /* @put */
		}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
