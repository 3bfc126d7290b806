/* clean: Rank 2 detaches its memory after a barrier that follows the completion of the put (MPI-5.0 12.2.4).
 * error: Rank 2 sleeps and detaches its memory, but is not notified that the put to it is complete. The put is usually
 * complete after the sleep, but the sleep orders nothing (MPI-5.0 12.2.4).
 *
 * np: 3
 * ref: mpich
 * find: memory window=q target=2 lines=detach,put
 */
#include <mpi.h>
#include <unistd.h>

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
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	if (rank == 2) {
		MPI_Win_attach(win, mem, sizeof mem);
		MPI_Get_address(mem, &place);
	}
	MPI_Bcast(&place, 1, MPI_AINT, 2, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, place, 1, MPI_INT, win); /* @put */
		MPI_Win_flush(2, win);
	}
	MPI_Win_unlock_all(win);
#ifdef WRONG
	usleep(200000);
#else
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 2)
		MPI_Win_detach(win, mem); /* @detach */
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
