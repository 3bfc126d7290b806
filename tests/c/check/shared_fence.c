/* clean: Ranks 0 and 1 store to one integer, with a fence between the stores (MPI-5.0 12.5.1).
 * race: Ranks 0 and 1 store to one integer between the same fences (MPI-5.0 12.5.1).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int unit, *peer;
	MPI_Aint size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_shared_query(win, 1, &size, &unit, &peer);
	MPI_Win_fence(0, win);
	if (rank == 0)
		peer[0] = 3; /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		mem[0] = 4; /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
