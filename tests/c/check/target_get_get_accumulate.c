/* clean: One origin gets and another calls MPI_Get_accumulate, both under exclusive locks, in any order.
 * race: One origin gets and another calls MPI_Get_accumulate, both under shared locks, which do not exclude each other
 * (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=a,b needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int v = 1, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank < 2) {
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
#endif
		if (rank == 0)
			MPI_Get(&v, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @a */
		else
			MPI_Get_accumulate(&v, 1, MPI_INT, &old, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @b */
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
