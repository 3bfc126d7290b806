/* Proves: an error under MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT ends the whole job with a nonzero status, on a
 *   communicator or a window. MPI_Abort on MPI_COMM_WORLD or on another communicator does the same. Ranks that wait for
 *   a message that is never sent end too. The call with the error never returns. MPI-5.0 9.3, 9.7
 * np: 1 2 4
 * args: comm comm_self comm_abort win win_abort abort abort_dup
 * ref: mpich
 * ref-wrong: comm_abort win_abort (an assertion in MPICH fails: it does not take MPI_ERRORS_ABORT)
 * timeout: 30
 * status: nonzero
 * stderr comm: MPI_ERR_RANK: MPI_Send on communicator
 * stderr comm_self: MPI_ERR_COUNT: MPI_Send on communicator MPI_COMM_SELF: count is -1
 * stderr comm_abort: MPI_ERR_RANK: MPI_Send on communicator MPI_COMM_WORLD: dest is
 * stderr win: MPI_ERR_RMA_SYNC: MPI_Win_unlock on window
 * stderr win_abort: MPI_ERR_RANK: MPI_Put on window
 * stderr abort: called MPI_Abort with status 7
 * stderr abort_dup: called MPI_Abort with status 3
 */
#include "../windows.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int value = 1, *mem, last = check_rank == check_size - 1;
	MPI_Comm comm;
	MPI_Win win;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, comm, &mem, &win);
	if (!last) /* waits for a message that no rank sends */
		MPI_Recv(&value, 1, MPI_INT, check_size - 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (strcmp(check_arg, "comm") == 0)
		MPI_Send(&value, 1, MPI_INT, check_size + 1, 0, comm);
	if (strcmp(check_arg, "comm_self") == 0)
		MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_SELF);
	if (strcmp(check_arg, "comm_abort") == 0) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
		MPI_Send(&value, 1, MPI_INT, check_size + 1, 0, MPI_COMM_WORLD);
	}
	if (strcmp(check_arg, "win") == 0)
		MPI_Win_unlock(0, win);
	if (strcmp(check_arg, "win_abort") == 0) {
		MPI_Win_set_errhandler(win, MPI_ERRORS_ABORT);
		MPI_Put(&value, 1, MPI_INT, check_size + 1, 0, 1, MPI_INT, win);
	}
	if (strcmp(check_arg, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(check_arg, "abort_dup") == 0)
		MPI_Abort(comm, 3);
	printf("FAIL: rank %d went on behind the error\n", check_rank);
	return 0;
}
