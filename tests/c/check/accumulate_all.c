/* clean: Each rank adds to an integer of every rank, including itself (MPI-5.0 12.7.1).
 * race: Each rank adds to an integer of every rank, including itself. Rank 2 also puts to its own integer in the same
 * epoch: a put conflicts with an accumulate (MPI-5.0 12.3).
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
	int value = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	for (int target = 0; target < 3; target++)
		MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
	if (rank == 2)
#ifdef WRONG
		MPI_Put(&other, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
#else
		MPI_Accumulate(&other, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
