/* clean: Each rank draws a ticket, waits for its turn, puts, flushes, and notifies the next rank (MPI-5.0 12.7).
 * race: Each rank draws a ticket and waits for its turn, but notifies the next rank before it flushes its put (MPI-5.0
 * 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=0 lines=put,put needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int value = 1, one = 1, ticket, turn = -1;

	MPI_Init(&argc, &argv);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
	MPI_Win_flush(0, win);
	while (turn != ticket) {
		MPI_Fetch_and_op(NULL, &turn, MPI_INT, 0, 1, MPI_NO_OP, win);
		MPI_Win_flush(0, win);
	}
	MPI_Put(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, win); /* @put */
#ifndef WRONG
	MPI_Win_flush(0, win);
#endif
	MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_flush(0, win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
