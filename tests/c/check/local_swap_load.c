/* clean: The result of a compare-and-swap is read after a local flush (MPI-5.0 12.3.4).
 * race: The result of a compare-and-swap is read before the operation is completed (MPI-5.0 12.3.4).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, expected = 0, old = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Compare_and_swap(&value, &expected, &old, MPI_INT, 1, 0, win); /* @first */
#ifndef WRONG
		MPI_Win_flush_local(1, win);
#endif
		if (old == expected) /* @second */
			printf("swapped\n");
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
