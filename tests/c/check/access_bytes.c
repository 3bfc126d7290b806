/* clean: Rank 0 puts byte 5, and rank 1 stores to bytes 4 and 6 (MPI-5.0 12.7).
 * race: Rank 0 puts byte 5, and rank 1 stores to byte 5.
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	char letter = 'a';

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&letter, 1, MPI_CHAR, 1, 5, 1, MPI_CHAR, win); /* @first */
	if (rank == 1) {
#ifdef WRONG
		mem[5] = 'x'; /* @second */
#else
		mem[4] = 'x';
		mem[6] = 'x';
#endif
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
