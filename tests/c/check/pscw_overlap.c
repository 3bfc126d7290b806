/* clean: Two origins put two integers each in one exposure epoch, to different locations (MPI-5.0 12.5.2).
 * race: Two origins put two integers each in one exposure epoch, and one integer is common to both (MPI-5.0 12.5.2).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[2] = {1, 2};
	MPI_Group world, origins, targets;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, (int[]){0, 1}, &origins);
	MPI_Group_incl(world, 1, (int[]){2}, &targets);
	if (rank == 2) {
		MPI_Win_post(origins, 0, win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(targets, 0, win);
		if (rank == 0)
			MPI_Put(values, 2, MPI_INT, 2, 0, 2, MPI_INT, win); /* @first */
#ifdef WRONG
		else
			MPI_Put(values, 2, MPI_INT, 2, 1, 2, MPI_INT, win); /* @second */
#else
		else
			MPI_Put(values, 2, MPI_INT, 2, 2, 2, MPI_INT, win);
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
