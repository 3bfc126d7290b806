/* clean: Each rank reserves the next free slot with a fetch-and-op and puts to the reserved slot. So each slot has one
 * origin (MPI-5.0 12.3.4).
 * race: Each rank reads the index of the next free slot without reserving it: all ranks put to the same slot (MPI-5.0
 * 12.3).
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
	int value = 1, slot;
#ifndef WRONG
	int one = 1;
#endif

	MPI_Init(&argc, &argv);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
#ifdef WRONG
	MPI_Fetch_and_op(NULL, &slot, MPI_INT, 0, 0, MPI_NO_OP, win);
#else
	MPI_Fetch_and_op(&one, &slot, MPI_INT, 0, 0, MPI_SUM, win);
#endif
	MPI_Win_flush(0, win);
	MPI_Put(&value, 1, MPI_INT, 0, 1 + slot, 1, MPI_INT, win); /* @put */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
