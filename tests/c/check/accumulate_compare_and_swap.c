/* clean: Two origins compare and swap one integer, and only one of them swaps (MPI-5.0 12.3.4).
 * race: Two origins compare and swap at one location, one origin 4 bytes, the other 8 bytes. Such operations are atomic
 * only if both use the same datatype (MPI-5.0 12.7.1).
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
	int small[3] = {1, 0, 0};
#ifdef WRONG
	long large[3] = {1, 0, 0};
	MPI_Datatype type = MPI_LONG;
#else
	int large[3] = {1, 0, 0};
	MPI_Datatype type = MPI_INT;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Compare_and_swap(&small[0], &small[1], &small[2], MPI_INT, 2, 0, win); /* @first */
	}
	if (rank == 1)
		MPI_Compare_and_swap(&large[0], &large[1], &large[2], type, 2, 0, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
