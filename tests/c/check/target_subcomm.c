/* clean: The window's communicator has the ranks in reverse order. Two origins put to its ranks 0 and 2 (MPI-5.0
 * 12.2.1).
 * race: The window's communicator has the ranks in reverse order. Two origins put to its rank 0, which is rank 2 of
 * MPI_COMM_WORLD (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=0 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	int value = 1;
	MPI_Comm reversed;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, reversed, &win);
	MPI_Comm_free(&reversed);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
