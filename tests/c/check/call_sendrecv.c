/* clean: Rank 1 exchanges messages with rank 2. It sends the integer that rank 0 gets, but receives elsewhere.
 * race: Rank 1 exchanges messages with rank 2 and receives into the integer that rank 0 gets (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=a,b needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int v = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Get(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @a */
	if (rank == 1)
#ifdef WRONG
		MPI_Sendrecv(&v, 1, MPI_INT, 2, 0, mem, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
#else
		MPI_Sendrecv(mem, 1, MPI_INT, 2, 0, &v, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	if (rank == 2)
		MPI_Sendrecv(&v, 1, MPI_INT, 1, 0, &other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
