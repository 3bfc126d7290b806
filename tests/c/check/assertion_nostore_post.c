/* clean: Rank 2 stores to its window and exposes it without an assertion. At the next exposure it asserts that nothing
 * was stored since the first exposure, which is true (MPI-5.0 12.5.5).
 * error: Rank 2 stores to its window. When it exposes the window, it asserts that nothing was stored (MPI-5.0 12.5.5).
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOSTORE window=q lines=store,post needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	MPI_Group world, origins, targets;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, (int[]){0, 1}, &origins);
	MPI_Group_incl(world, 1, (int[]){2}, &targets);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

	if (rank == 2) {
		mem[0] = 3; /* @store */
#ifndef WRONG
		MPI_Win_post(origins, 0, win);
		MPI_Win_wait(win);
#endif
		MPI_Win_post(origins, MPI_MODE_NOSTORE, win); /* @post */
		MPI_Win_wait(win);
	} else {
#ifndef WRONG
		MPI_Win_start(targets, 0, win);
		MPI_Win_complete(win);
#endif
		MPI_Win_start(targets, 0, win);
		MPI_Win_complete(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
