/* clean: MPI_Win_start and MPI_Win_post both assert MPI_MODE_NOCHECK, and a barrier orders them (MPI-5.0 12.5.5).
 * error: MPI_Win_start asserts MPI_MODE_NOCHECK, but MPI_Win_post does not (MPI-5.0 12.5.5).
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOCHECK window=q lines=start,post needs=calls
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

	if (rank == 2)
#ifdef WRONG
		MPI_Win_post(origins, 0, win); /* @post */
#else
		MPI_Win_post(origins, MPI_MODE_NOCHECK, win);
#endif
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank < 2) {
		MPI_Win_start(targets, MPI_MODE_NOCHECK, win); /* @start */
		if (rank == 0)
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
	} else {
		MPI_Win_wait(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
