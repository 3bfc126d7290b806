/* clean: All ranks free a window between the puts. MPI_Win_free returns after all ranks have called it
 * (MPI-5.0 12.2.5).
 * race: Ranks 0 and 2 free a window. Rank 1 is not a member of that window, so it waits for no rank (MPI-5.0 12.2.5).
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
	int value = 1;
	MPI_Win other;
#ifdef WRONG
	MPI_Comm part;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
#ifdef WRONG
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &part);
	if (rank != 1)
		MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, part, &other);
	MPI_Comm_free(&part);
#else
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
#ifdef WRONG
	if (rank != 1)
		MPI_Win_free(&other);
#else
	MPI_Win_free(&other);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
