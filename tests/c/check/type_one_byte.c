/* clean: One origin puts four bytes at byte 0, another puts byte 4. Adjacent bytes do not conflict in the unified model
 * (MPI-5.0 12.7).
 * race: One origin puts four bytes at byte 0, another puts byte 3.
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	char bytes[4] = "abc";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(bytes, 4, MPI_CHAR, 2, 0, 4, MPI_CHAR, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(bytes, 1, MPI_CHAR, 2, 3, 1, MPI_CHAR, win); /* @second */
#else
		MPI_Put(bytes, 1, MPI_CHAR, 2, 4, 1, MPI_CHAR, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
