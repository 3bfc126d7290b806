/* clean: Rank 0 puts before an allgather of all ranks, and rank 1 puts after it (MPI-5.0 6.7).
 * race: Rank 0 puts before an allgather and rank 1 puts after an allgather, but the allgathers are on different
 * communicators (MPI-5.0 6.7).
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
#ifdef WRONG
	MPI_Comm half;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
#ifdef WRONG
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
#ifdef WRONG
	MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, half);
#else
	MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifdef WRONG
	MPI_Comm_free(&half);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
