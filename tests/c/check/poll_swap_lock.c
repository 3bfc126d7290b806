/* clean: A rank releases a lock made of compare-and-swap after it has flushed its put (MPI-5.0 12.7).
 * race: A rank releases a lock made of compare-and-swap before it has flushed its put (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=put,put needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, held = 1, unheld = 0, seen;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank < 2) {
		do {
			MPI_Compare_and_swap(&held, &unheld, &seen, MPI_INT, 2, 0, win);
			MPI_Win_flush(2, win);
		} while (seen != unheld);
		MPI_Put(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, win); /* @put */
#ifndef WRONG
		MPI_Win_flush(2, win);
#endif
		MPI_Compare_and_swap(&unheld, &held, &seen, MPI_INT, 2, 0, win);
		MPI_Win_flush(2, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
