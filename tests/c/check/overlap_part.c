/* clean: Two windows have two integers in common. Two origins put to different integers, each through a different
 * window. One of the two integers is common to both windows (MPI-5.0 12.7).
 * race: Two windows have two integers in common. Two origins put to one common integer, each through a different window
 * (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q,r target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win, other;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, 6 * sizeof mem[0], sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_create(mem + 4, 4 * sizeof mem[0], sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "r");
	MPI_Win_lock_all(0, win);
	MPI_Win_lock_all(0, other);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, 4, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, other); /* @second */
#else
		MPI_Put(&value, 1, MPI_INT, 2, 2, 1, MPI_INT, other);
#endif
	MPI_Win_unlock_all(other);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
