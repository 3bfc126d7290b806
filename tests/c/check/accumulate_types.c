/* clean: Two origins accumulate at one location with one predefined type and one operation (MPI-5.0 12.7.1).
 * race: Two origins accumulate at one location with two predefined types, int and float. Accumulates are atomic only if
 * both use the same predefined type (MPI-5.0 12.7.1).
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
	int value = 1;
#ifdef WRONG
	float number = 1.0f;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Accumulate(&number, 1, MPI_FLOAT, 2, 0, 1, MPI_FLOAT, MPI_SUM, win); /* @second */
#else
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
