/* clean: A loop gets, flushes, changes the value, puts and flushes.
 * race: A loop gets, flushes, changes the value, puts and flushes only locally. So a get may overlap the previous put
 * (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,get needs=calls
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
		for (int i = 0; i < 10; i++) {
			MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @get */
			MPI_Win_flush(1, win);
			value++;
			MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
#ifdef WRONG
			MPI_Win_flush_local(1, win);
#else
			MPI_Win_flush(1, win);
#endif
		}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
