/* clean: Rank 0 puts data, flushes and puts a flag. Rank 1 polls the flag with atomic loads, then reads the data: the
 * unified model allows polling for a change (MPI-5.0 12.7).
 * race: Rank 0 puts data and a flag without a flush between. Rank 1 polls the flag in its own memory with atomic loads
 * and reads the data (MPI-5.0 12.7).
 *
 * np: 2
 * ref: none (MPICH's MPI_Win_sync makes no progress)
 * find: race window=q target=1 lines=first,second needs=accesses
 * find clean: nothing needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, one = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush(1, win);
#endif
		MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
		MPI_Win_flush(1, win);
	}
	if (rank == 1) {
		while (__atomic_load_n(&mem[1], __ATOMIC_ACQUIRE) == 0)
			MPI_Win_sync(win);
		printf("%d\n", mem[0]); /* @second */
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
