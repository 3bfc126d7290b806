/* clean: Rank 0 puts before a gather whose root is rank 1, and rank 1 puts after the gather (MPI-5.0 6.5).
 * race: Rank 0 puts before a gather whose root is rank 3, and rank 1 puts after it: only the root waits for the members
 * (MPI-5.0 6.5).
 *
 * np: 4
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, all[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
#ifdef WRONG
	MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 3, MPI_COMM_WORLD);
#else
	MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
