/* clean: Rank 1 reads its integer under a shared lock of its own memory, and rank 0 puts under an exclusive lock
 * (MPI-5.0 12.5.3).
 * race: Rank 1 reads its integer under a shared lock of its own memory, and rank 0 puts under a shared lock. Shared
 * locks do not exclude each other (MPI-5.0 12.5.3).
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
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
#endif
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_unlock(1, win);
	}
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		printf("%d\n", mem[0]); /* @second */
		MPI_Win_unlock(1, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
