/* clean: Two origins lock one target exclusively, one after the other. Both assert that no other rank holds a
 * conflicting lock meanwhile (MPI-5.0 12.5.5).
 * error: Two origins lock one target exclusively at the same time. Both assert that no other rank holds a conflicting
 * lock (MPI-5.0 12.5.5).
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOCHECK window=q lines=one,other needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, MPI_MODE_NOCHECK, win); /* @one */
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
	}
#ifndef WRONG
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, MPI_MODE_NOCHECK, win); /* @other */
		MPI_Put(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
