/* clean: Two windows contain the same memory: a dynamic window and one of MPI_Win_create. Two origins put to different
 * integers, each through a different window.
 * race: Two windows contain the same memory: a dynamic window and one of MPI_Win_create. Two origins put to one
 * integer, each through a different window (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q,r target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win;
	MPI_Aint place = 0;
	int value = 1;
	MPI_Win other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "r");
	if (rank == 2) {
		MPI_Win_attach(win, mem, sizeof mem);
		MPI_Get_address(mem, &place);
	}
	MPI_Bcast(&place, 1, MPI_AINT, 2, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Win_lock_all(0, other);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, place, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, other); /* @second */
#else
		MPI_Put(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, other);
#endif
	MPI_Win_unlock_all(other);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Win_detach(win, mem);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
