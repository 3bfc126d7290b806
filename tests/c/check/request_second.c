/* clean: A rank gets into the buffer of a completed send while an earlier send is in progress (MPI-5.0 3.7.3).
 * race: A rank gets into the buffer of a send in progress after an earlier send is complete (MPI-5.0 3.7.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=isend,get needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int a = 1, b = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Request first, second;
		MPI_Isend(&a, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &first);
		MPI_Isend(&b, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &second); /* @isend */
#ifdef WRONG
		MPI_Wait(&first, MPI_STATUS_IGNORE);
		MPI_Get(&b, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @get */
		MPI_Win_flush(1, win);
		MPI_Wait(&second, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&second, MPI_STATUS_IGNORE);
		MPI_Get(&b, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Win_flush(1, win);
		MPI_Wait(&first, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1) {
		MPI_Recv(&a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&b, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
