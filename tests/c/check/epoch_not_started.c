/* clean: Rank 0 puts to a rank in the group of MPI_Win_start (MPI-5.0 12.5.2).
 * error: Rank 0 puts to a rank that is not in the group of MPI_Win_start (MPI-5.0 12.5.2). The put returns an error.
 *
 * np: 3
 * ref: mpich
 * find: epoch window=q lines=use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
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
		MPI_Win_post(origins, 0, win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(targets, 0, win);
		if (rank == 0)
#ifdef WRONG
			MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @use */
#else
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
		MPI_Win_complete(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
