/* clean: Rank 1 reads its integer after MPI_Win_wait (MPI-5.0 12.5.2).
 * race: Rank 1 reads its integer while its window is exposed to rank 0, which puts to the integer (MPI-5.0 12.5.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
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
		MPI_Win_complete(win);
	}
	if (rank == 1) {
		MPI_Win_post(peer, 0, win);
#ifdef WRONG
		printf("%d\n", mem[0]); /* @second */
		MPI_Win_wait(win);
#else
		MPI_Win_wait(win);
		printf("%d\n", mem[0]);
#endif
	}
	MPI_Group_free(&peer);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
