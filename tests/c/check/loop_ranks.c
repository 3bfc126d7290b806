/* clean: Each of four ranks puts to the integer of its rank at rank 0.
 * race: Ranks 0 to 2 put to the integer of their rank at rank 0. Rank 3 puts to the integer of rank 2 (MPI-5.0 12.3).
 *
 * np: 4
 * ref: mpich
 * find: race window=q target=0 lines=put,put needs=calls
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
#ifdef WRONG
	MPI_Put(&value, 1, MPI_INT, 0, rank == 3 ? 2 : rank, 1, MPI_INT, win); /* @put */
#else
	MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
