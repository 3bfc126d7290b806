/* clean: Rank 0 puts, flushes and enters the barrier. Rank 1 reads after the barrier: the unified model needs no
 * further call (MPI-5.0 12.7).
 * race: Rank 0 puts and flushes after the barrier, and rank 1 reads after the same barrier. Nothing orders the read
 * after the flush (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

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
#ifdef WRONG
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(1, win);
	}
#ifndef WRONG
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		printf("%d\n", mem[0]); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
