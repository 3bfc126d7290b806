/* clean: Displacements use the target's unit, 8 bytes. Two integers at displacement 0 and one at displacement 1 do not
 * overlap.
 * race: Displacements use the target's unit, 8 bytes, although the unit of the origins is 4. Three integers at
 * displacement 0 and one at 1 overlap in bytes 8 to 11 (MPI-5.0 12.2.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static double mem[8];
	MPI_Win win;
	int values[3] = {1, 2, 3};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, rank == 2 ? 8 : 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Put(values, 3, MPI_INT, 2, 0, 3, MPI_INT, win); /* @first */
#else
		MPI_Put(values, 2, MPI_INT, 2, 0, 2, MPI_INT, win);
#endif
	if (rank == 1)
		MPI_Put(values, 1, MPI_INT, 2, 1, 1, MPI_INT, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
