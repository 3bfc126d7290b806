/* clean: Each rank puts a value to its neighbour in a ring. After a fence, it puts the value that it has received to
 * its neighbour.
 * race: Each rank puts a value to its neighbour in a ring. Without a fence, it then puts its own integer to its
 * neighbour, while the other neighbour may still be putting to this integer (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=0,1,2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT, (rank + 1) % 3, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	MPI_Put(mem, 1, MPI_INT, (rank + 1) % 3, 1, 1, MPI_INT, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
