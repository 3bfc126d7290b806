/* clean: Rank 0 sets a flag with MPI_REPLACE. Rank 1 polls the flag with MPI_NO_OP (MPI-5.0 12.7).
 * race: Rank 0 sets a flag with a put. Rank 1 polls the flag with gets: a put and a get conflict (MPI-5.0 12.3).
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
	int value = 1, flag = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#else
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_REPLACE, win);
#endif
		MPI_Win_flush(2, win);
	}
	if (rank == 1)
		while (!flag) {
#ifdef WRONG
			MPI_Get(&flag, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
#else
			MPI_Fetch_and_op(NULL, &flag, MPI_INT, 2, 0, MPI_NO_OP, win);
#endif
			MPI_Win_flush(2, win);
		}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
