/* clean: Two origins put a thousand times, one to even, the other to odd integers.
 * race: Two origins put a thousand times, one to even, the other to odd integers. One put of the second origin is to an
 * even integer (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int table[2000];
	MPI_Win win;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(table, sizeof table, sizeof table[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	for (int i = 0; i < 1000; i++) {
		if (rank == 0)
			MPI_Put(&value, 1, MPI_INT, 2, 2 * i, 1, MPI_INT, win); /* @first */
		if (rank == 1)
#ifdef WRONG
			MPI_Put(&value, 1, MPI_INT, 2, i == 613 ? 2 * i : 2 * i + 1, 1, MPI_INT, win); /* @second */
#else
			MPI_Put(&value, 1, MPI_INT, 2, 2 * i + 1, 1, MPI_INT, win);
#endif
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
