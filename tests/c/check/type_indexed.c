/* clean: One origin puts to integers 0 and 5 by an indexed type, another to integers 1 to 4 between them.
 * race: One origin puts to integers 0 and 5 by an indexed type, another to integers 1 to 5: integer 5 is common to
 * both.
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
	int values[5] = {1, 2, 3, 4, 5};
	MPI_Datatype ends;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_indexed(2, (int[]){1, 1}, (int[]){0, 5}, MPI_INT, &ends);
	MPI_Type_commit(&ends);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 2, MPI_INT, 2, 0, 1, ends, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(values, 5, MPI_INT, 2, 1, 5, MPI_INT, win); /* @second */
#else
		MPI_Put(values, 4, MPI_INT, 2, 1, 4, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&ends);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
