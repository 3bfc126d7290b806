/* clean: All ranks call MPI_Win_fence, then MPI_Barrier (MPI-5.0 12.5.1).
 * error: Rank 0 calls MPI_Win_fence, the other ranks call MPI_Barrier (MPI-5.0 12.5.1).
 *
 * np: 3
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=fence,barrier
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
#ifdef WRONG
	if (rank == 0)
		MPI_Win_fence(0, win); /* @fence */
	else
		MPI_Barrier(MPI_COMM_WORLD); /* @barrier */
#else
	MPI_Win_fence(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
