/* clean: Two origins put two columns of a matrix.
 * race: One origin puts column 1 of a matrix of 2 rows, another puts row 0: one element is common to both.
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
	int values[4] = {1, 2, 3, 4};
	MPI_Datatype column;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_create_subarray(2, (int[]){2, 4}, (int[]){2, 1}, (int[]){0, 0}, MPI_ORDER_C, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 2, MPI_INT, 2, 1, 1, column, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(values, 4, MPI_INT, 2, 0, 4, MPI_INT, win); /* @second */
#else
		MPI_Put(values, 2, MPI_INT, 2, 2, 1, column, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&column);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
