/* clean: A barrier on a duplicate of MPI_COMM_WORLD orders the puts of ranks 0 and 1 (MPI-5.0 6.3).
 * race: Ranks 0 and 1 call a barrier on MPI_COMM_SELF, which orders no two ranks (MPI-5.0 6.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
#ifndef WRONG
	MPI_Comm copy;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
#ifndef WRONG
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
#ifdef WRONG
	MPI_Barrier(MPI_COMM_SELF);
#else
	MPI_Barrier(copy);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifndef WRONG
	MPI_Comm_free(&copy);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
