/* clean: One origin adds to an integer, then replaces it. Accumulates of one origin are ordered by default, so the two
 * operations are not concurrent (MPI-5.0 12.7.2).
 * race: One origin adds to an integer, then replaces it. The window has accumulate_ordering none, so the two operations
 * are concurrent (MPI-5.0 12.7.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win;
	MPI_Info info;
	int value = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&info);
#ifdef WRONG
	MPI_Info_set(info, "accumulate_ordering", "none");
#else
	MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
#endif
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);     /* @first */
		MPI_Accumulate(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win); /* @second */
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
