/* clean: Rank 0 puts data, flushes and sets a flag. Rank 2 polls the flag in its own memory with MPI_NO_OP and sends
 * the data (MPI-5.0 12.7).
 * race: Rank 0 puts data and sets a flag without a flush between. Rank 2 polls the flag in its own memory with
 * MPI_NO_OP and sends the data (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, one = 1, flag = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush(2, win);
#endif
		MPI_Accumulate(&one, 1, MPI_INT, 2, 1, 1, MPI_INT, MPI_REPLACE, win);
		MPI_Win_flush(2, win);
	}
	if (rank == 2) {
		while (!flag) {
			MPI_Fetch_and_op(NULL, &flag, MPI_INT, 2, 1, MPI_NO_OP, win);
			MPI_Win_flush(2, win);
		}
		MPI_Send(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
	}
	if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
