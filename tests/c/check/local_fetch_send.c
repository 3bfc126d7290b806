/* clean: The result of a fetch-and-op is sent after a local flush.
 * race: The result of a fetch-and-op is sent before the operation is completed (MPI-5.0 12.3.4).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
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
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Fetch_and_op(&other, &value, MPI_INT, 1, 0, MPI_SUM, win); /* @first */
#ifndef WRONG
		MPI_Win_flush_local(1, win);
#endif
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
	}
	if (rank == 1)
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
