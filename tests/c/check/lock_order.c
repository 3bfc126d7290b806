/* clean: Rank 0 puts to integer 0, then locks and puts a flag to integer 1. Rank 1 locks and gets the flag until it is
 * set, then puts to integer 0. So the lock of rank 1 is the later one (MPI-5.0 12.5.3).
 * race: Rank 0 puts to integer 0, then locks and puts to integer 1. Rank 1 locks and gets integer 1 once, then puts to
 * integer 0. The order of the locks varies. Because of the sleep, rank 1 is usually first, but the sleep orders nothing
 * (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, flag = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
#ifdef WRONG
		usleep(100000);
#endif
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_unlock(2, win);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
	}
	if (rank == 1) {
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Get(&flag, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
#else
		while (!flag) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
			MPI_Get(&flag, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
			MPI_Win_unlock(2, win);
		}
#endif
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
