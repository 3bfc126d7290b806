/* clean: One origin gets the even integers, another puts to the third odd integer.
 * race: One origin gets the even integers, another puts to the first two integers: integer 0 is common to both.
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
	MPI_Datatype comb;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_vector(4, 1, 2, MPI_INT, &comb);
	MPI_Type_commit(&comb);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Get(values, 4, MPI_INT, 2, 0, 1, comb, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(values, 2, MPI_INT, 2, 0, 2, MPI_INT, win); /* @second */
#else
		MPI_Put(values, 1, MPI_INT, 2, 5, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&comb);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
