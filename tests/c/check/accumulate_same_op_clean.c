/* The window says that operations at a location are the same or MPI_NO_OP, and so they are (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win;
	MPI_Info info;
	int value = 1, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&info);
	MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win);
	if (rank == 1)
		MPI_Fetch_and_op(NULL, &old, MPI_INT, 2, 0, MPI_NO_OP, win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
