/* clean: One origin gets an integer, another accumulates with MPI_NO_OP, which changes nothing (MPI-5.0 12.3.4).
 * race: One origin puts to an integer, another accumulates with MPI_NO_OP, which reads the integer (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=a,b needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int v = 1, w;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank < 2) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		if (rank == 0)
#ifdef WRONG
			MPI_Put(&v, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @a */
#else
			MPI_Get(&v, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
		else
			MPI_Get_accumulate(NULL, 0, MPI_INT, &w, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_NO_OP, win); /* @b */
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
