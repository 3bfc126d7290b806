/* clean: Rank 0 puts, flushes and enters the barrier; after it rank 1 reads, which needs no further call in the
 * unified model (MPI-5.0 12.7).
 * race: Rank 1 reads after a barrier what rank 0 has put and flushed after it (MPI-5.0 12.7).
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
