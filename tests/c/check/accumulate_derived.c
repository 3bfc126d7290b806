/* clean: One origin adds to every second integer, another adds to the first four integers. Both use one predefined type
 * (MPI-5.0 12.7.1).
 * race: One origin adds ints to every second integer, another adds floats at the first two locations. Accumulates are
 * atomic only if both use the same predefined type (MPI-5.0 12.7.1).
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
#ifdef WRONG
	float numbers[2] = {1.0f, 2.0f};
#endif
	MPI_Datatype comb;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Type_vector(4, 1, 2, MPI_INT, &comb);
	MPI_Type_commit(&comb);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(values, 4, MPI_INT, 2, 0, 1, comb, MPI_SUM, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Accumulate(numbers, 2, MPI_FLOAT, 2, 0, 2, MPI_FLOAT, MPI_SUM, win); /* @second */
#else
		MPI_Accumulate(values, 4, MPI_INT, 2, 0, 4, MPI_INT, MPI_SUM, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Type_free(&comb);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
