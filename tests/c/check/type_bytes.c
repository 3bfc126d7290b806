/* clean: One origin puts an eight-byte double at byte 8, another an integer at byte 16.
 * race: One origin puts an eight-byte double at byte 4, another an integer at byte 8: displacements are in bytes
 * (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	int value = 1;
	double number = 2.0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Put(&number, 1, MPI_DOUBLE, 2, 4, 1, MPI_DOUBLE, win); /* @first */
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 8, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(&number, 1, MPI_DOUBLE, 2, 8, 1, MPI_DOUBLE, win);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 16, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
