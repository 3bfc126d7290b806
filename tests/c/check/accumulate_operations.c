/* clean: Two origins accumulate with MPI_MAX at one integer.
 * race: Two origins accumulate at one integer, one with MPI_SUM, the other with MPI_MAX: accumulate_ops is
 * same_op_no_op by default (MPI-5.0 12.2.1).
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

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
#else
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_MAX, win);
#endif
	if (rank == 1)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_MAX, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
