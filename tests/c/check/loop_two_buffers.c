/* clean: Each step puts to one of two buffers. In one step, each rank also reduces the buffer of the previous step.
 * race: Each step puts to one of two buffers. In one step, each rank also reduces the buffer to which its neighbour
 * puts in this step (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0,1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	for (int step = 0; step < 10; step++) {
		MPI_Put(&value, 1, MPI_INT, 1 - rank, step % 2, 1, MPI_INT, win); /* @first */
		if (step == 7)
#ifdef WRONG
			MPI_Allreduce(&mem[1], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @second */
#else
			MPI_Allreduce(&mem[0], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
		MPI_Win_fence(0, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
