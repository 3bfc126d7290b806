/* clean: Rank 2 receives a message into memory, then attaches the memory. Rank 0 puts there later (MPI-5.0 12.2.4).
 * race: Rank 2 receives a message into attached memory while rank 0 puts to that memory (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win;
	MPI_Aint place = 0;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
#ifndef WRONG
	if (rank == 2)
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	if (rank == 2) {
		MPI_Win_attach(win, mem, sizeof mem);
		MPI_Get_address(mem, &place);
	}
	MPI_Bcast(&place, 1, MPI_AINT, 2, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, place, 1, MPI_INT, win); /* @first */
#ifdef WRONG
	if (rank == 2)
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#endif
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Win_detach(win, mem);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
