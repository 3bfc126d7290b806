/* clean: Ranks 0 and 1 send to rank 3. Rank 3 receives both messages and answers rank 1, which puts after the answer.
 * race: Ranks 0 and 1 send to rank 3, which does not answer. So the puts of ranks 0 and 1 are not ordered.
 *
 * np: 4
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

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
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	if (rank < 2)
		MPI_Send(NULL, 0, MPI_INT, 3, 0, MPI_COMM_WORLD);
	if (rank == 3)
		for (int i = 0; i < 2; i++)
			MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifndef WRONG
	if (rank == 3)
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(NULL, 0, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
