/* clean: Rank 1 receives two integers, and rank 0 puts to the third: disjoint locations do not conflict in the
 * unified model (MPI-5.0 12.7).
 * race: Rank 1 receives two integers, and rank 0 puts to the second of them (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[2] = {1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Put(values, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* @first */
#else
		MPI_Put(values, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
#endif
	if (rank == 2)
		MPI_Send(values, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(mem, 2, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
