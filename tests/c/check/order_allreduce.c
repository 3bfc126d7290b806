/* clean: Rank 0 puts before an allreduce with rank 1, and rank 1 puts after the allreduce. The result at rank 1 needs
 * the operand of rank 0 (MPI-5.0 6.9).
 * race: Rank 0 puts before an allreduce with rank 2 only, and rank 1 is not in that communicator (MPI-5.0 6.9).
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
	int value = 1, sum;
	MPI_Comm part;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
#ifdef WRONG
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &part);
#else
	MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &part);
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, part);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Comm_free(&part);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
