/* clean: A loop puts twice from one buffer. Rank 0 receives into the buffer after both puts are complete at the origin
 * (MPI-5.0 12.3.5).
 * race: A loop puts twice from one buffer. Rank 0 receives into the buffer when only the first put is complete at the
 * origin (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=put,recv needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Request requests[2];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			MPI_Rput(&value, 1, MPI_INT, 1, i, 1, MPI_INT, win, &requests[i]); /* @put */
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#ifdef WRONG
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
#else
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	} else {
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
