/* clean: One origin puts to an integer in two consecutive access epochs, each with its own exposure epoch.
 * race: One origin puts to an integer twice in one access epoch: the puts of one epoch are not ordered (MPI-5.0 12.7).
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
	int value = 1, other = 2;
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
#ifndef WRONG
		MPI_Win_post(origins, 0, win);
		MPI_Win_wait(win);
#endif
	} else {
		MPI_Win_start(targets, 0, win);
		if (rank == 0)
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_complete(win);
		MPI_Win_start(targets, 0, win);
#endif
		if (rank == 0)
			MPI_Put(&other, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_complete(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
