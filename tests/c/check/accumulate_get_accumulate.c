/* clean: Two origins apply MPI_BOR to one integer, one of them with MPI_Get_accumulate.
 * race: Two origins update one integer, one with MPI_BAND, the other with MPI_BOR and MPI_Get_accumulate. By default
 * concurrent accumulates at one location must use the same operation (MPI-5.0 12.2.1).
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
	int value = 1, v = 2, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_BAND, win); /* @first */
#else
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_BOR, win);
#endif
	if (rank == 1)
		MPI_Get_accumulate(&v, 1, MPI_INT, &old, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_BOR, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
