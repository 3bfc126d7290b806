/* clean: Rank 1 reads its integer while rank 0 gets the integer: both accesses only read (MPI-5.0 12.3).
 * race: Rank 1 increments its integer while rank 0 gets the integer: a get and a local store conflict (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		mem[0]++; /* @second */
#else
		if (mem[0] != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
#endif
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
