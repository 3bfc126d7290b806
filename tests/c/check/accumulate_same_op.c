/* clean: The window has accumulate_ops same_op_no_op; one origin adds, another uses MPI_NO_OP (MPI-5.0 12.2.1).
 * race: The window has accumulate_ops same_op, but one origin adds, another uses MPI_NO_OP (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
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
#ifdef WRONG
	MPI_Info_set(info, "accumulate_ops", "same_op");
#else
	MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
#endif
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
	if (rank == 1)
		MPI_Fetch_and_op(NULL, &old, MPI_INT, 2, 0, MPI_NO_OP, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
