/* clean: Rank 0 puts, unlocks and enters the barrier. Rank 1 reads after the barrier, under a lock of its own memory.
 * race: Rank 0 puts, flushes only locally and enters the barrier. Rank 1 reads after the barrier, while the put may
 * still be in progress at the target (MPI-5.0 12.7).
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
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Win_flush_local(1, win);
#else
		MPI_Win_unlock(1, win);
#endif
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		printf("%d\n", mem[0]); /* @second */
		MPI_Win_unlock(1, win);
	}
#ifdef WRONG
	if (rank == 0)
		MPI_Win_unlock(1, win);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
