/* clean: One origin puts an integer, another puts zero elements at the same location: without bytes there is no
 * conflict.
 * race: Two origins put one integer each to the same location.
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

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, 3, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 3, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(&value, 0, MPI_INT, 2, 3, 0, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
