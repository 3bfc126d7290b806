/* clean: Two origins put to neighbouring integers of attached memory (MPI-5.0 12.2.4).
 * race: Two origins put to the same integer of attached memory (MPI-5.0 12.2.4).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win;
	MPI_Aint place = 0;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 2) {
		MPI_Win_attach(win, mem, sizeof mem);
		MPI_Get_address(mem, &place);
	}
	MPI_Bcast(&place, 1, MPI_AINT, 2, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, place, 1, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, place, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(&value, 1, MPI_INT, 2, MPI_Aint_add(place, 4), 1, MPI_INT, win);
#endif
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Win_detach(win, mem);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
