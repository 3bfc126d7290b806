/* clean: A loop stores to a variable and puts from it; a local flush completes the put before the next store.
 * race: A loop stores to a variable and puts from it without a local flush. So a store may change the data of the
 * previous put (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		for (int i = 0; i < 8; i++) {
			value = i;                                          /* @second */
			MPI_Put(&value, 1, MPI_INT, 1, i, 1, MPI_INT, win); /* @first */
#ifndef WRONG
			MPI_Win_flush_local(1, win);
#endif
		}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
