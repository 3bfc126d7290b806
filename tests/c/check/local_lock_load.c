/* clean: The result of a get is read after MPI_Win_unlock (MPI-5.0 12.5.3).
 * race: The result of a get is read before MPI_Win_unlock (MPI-5.0 12.5.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		printf("%d\n", value); /* @second */
		MPI_Win_unlock(1, win);
#else
		MPI_Win_unlock(1, win);
		printf("%d\n", value);
#endif
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
