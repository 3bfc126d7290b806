/* clean: The result of a request-based get is read after MPI_Waitsome has completed the request (MPI-5.0 12.3.5).
 * race: The result of a request-based get is read before the request is completed (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 0, count, index;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rget(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @first */
#ifdef WRONG
		printf("%d\n", value); /* @second */
		MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
#else
		MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);
		printf("%d\n", value);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
