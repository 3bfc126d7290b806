/* clean: One origin puts to integers 0 and 3, with two elements of a type whose extent is three integers. Another puts
 * to integer 1.
 * race: One origin puts to integers 0 and 3, with two elements of a type whose extent is three integers. Another puts
 * to integer 3.
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
	int values[2] = {1, 2};
	MPI_Datatype third;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
	MPI_Type_commit(&third);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(values, 2, MPI_INT, 2, 0, 2, third, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(values, 1, MPI_INT, 2, 3, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(values, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&third);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
