/* clean: Rank 0 puts to the first four integers, rank 1 stores to the integers after them. Disjoint locations do not
 * conflict in the unified model (MPI-5.0 12.7).
 * race: Rank 0 puts to the first four integers, rank 1 stores to the fourth and all later integers (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[4] = {1, 2, 3, 4};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 4, MPI_INT, 1, 0, 4, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		for (int i = 3; i < 8; i++)
#else
		for (int i = 4; i < 8; i++)
#endif
			mem[i] = i; /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
