/* clean: A barrier called by its PMPI name orders the put of rank 0 before the get of rank 1 (MPI-5.0 15.2).
 * race: Rank 0 puts and rank 1 gets, both by PMPI names, without a barrier between the calls (MPI-5.0 15.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0 needs=calls lines=put,get
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
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		PMPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @put */
		MPI_Win_flush(0, win);
	}
#ifndef WRONG
	PMPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		PMPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @get */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
