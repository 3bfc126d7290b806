/* clean: Two origins add to one integer, one of them with MPI_Raccumulate (MPI-5.0 12.7.1).
 * race: One origin adds to an integer with MPI_Raccumulate, another accumulates with MPI_MIN. By default concurrent
 * accumulates at one location must use the same operation (MPI-5.0 12.2.1).
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
	int value = 1;
	MPI_Request request;
#ifdef WRONG
	MPI_Op op = MPI_MIN;
#else
	MPI_Op op = MPI_SUM;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Raccumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win, &request); /* @first */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (rank == 1)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, op, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
