/* clean: A message is received into the origin buffer of a put after MPI_Win_complete (MPI-5.0 12.5.2).
 * race: A message is received into the origin buffer of a put before MPI_Win_complete (MPI-5.0 12.5.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;
	MPI_Group world, peer;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, (int[]){1 - rank}, &peer);
	if (rank == 0) {
		MPI_Win_start(peer, 0, win);
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
		MPI_Win_complete(win);
#else
		MPI_Win_complete(win);
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1) {
		MPI_Win_post(peer, 0, win);
		MPI_Send(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Win_wait(win);
	}
	MPI_Group_free(&peer);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
