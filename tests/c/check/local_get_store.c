/* clean: The program stores to the result buffer of a get before the get and after the fence.
 * race: The program stores to the result buffer of a get before the get is complete (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0) {
#ifdef WRONG
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
		value = 3;                                          /* @second */
	}
	MPI_Win_fence(0, win);
#else
		value = 3;
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	}
	MPI_Win_fence(0, win);
	value = 4;
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
