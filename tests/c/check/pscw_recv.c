/* clean: Rank 2 receives a message into an integer before MPI_Win_post, which permits rank 0 to put to the integer
 * (MPI-5.0 12.5.2).
 * race: Rank 2 receives a message into the integer after MPI_Win_post, when rank 0 may be putting to the integer
 * (MPI-5.0 12.5.2).
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
	int value = 1;
	MPI_Group world, origins, targets;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, (int[]){0, 1}, &origins);
	MPI_Group_incl(world, 1, (int[]){2}, &targets);
	if (rank == 2) {
#ifdef WRONG
		MPI_Win_post(origins, 0, win);
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#else
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_post(origins, 0, win);
#endif
		MPI_Win_wait(win);
	}
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
	if (rank < 2) {
		MPI_Win_start(targets, 0, win);
		if (rank == 0)
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_complete(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
