/* clean: In each of a hundred epochs, two origins put to two different integers. They swap the integers at every fence.
 * race: In one of a hundred epochs, two origins put to the same integer (MPI-5.0 12.7).
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
	for (int i = 0; i < 100; i++) {
		if (rank == 0)
			MPI_Put(&value, 1, MPI_INT, 2, i % 2, 1, MPI_INT, win); /* @first */
		if (rank == 1)
#ifdef WRONG
			MPI_Put(&value, 1, MPI_INT, 2, i == 77 ? 1 : 1 - i % 2, 1, MPI_INT, win); /* @second */
#else
			MPI_Put(&value, 1, MPI_INT, 2, 1 - i % 2, 1, MPI_INT, win);
#endif
		MPI_Win_fence(0, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
