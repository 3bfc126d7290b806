/* clean: Rank 0 gets an integer. Rank 1 receives into the integer after the exposure epoch, when the get is complete
 * (MPI-5.0 12.7.3).
 * race: Rank 0 gets an integer, and rank 1 receives into the integer within the exposure epoch (MPI-5.0 12.7.3).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=get,recv needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
	MPI_Group world, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, (int[]){1 - rank}, &other);
	if (rank == 0) {
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		MPI_Win_start(other, 0, win);
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @get */
		MPI_Win_complete(win);
	} else {
		MPI_Win_post(other, 0, win);
#ifdef WRONG
		MPI_Recv(mem, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
		MPI_Win_wait(win);
#else
		MPI_Win_wait(win);
		MPI_Recv(mem, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	}
	MPI_Group_free(&other);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
