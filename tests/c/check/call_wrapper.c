/* clean: The program's own MPI_Barrier, which calls PMPI_Barrier, orders a put of rank 0 before a get of rank 1
 * (MPI-5.0 15.2).
 * race: Rank 0 puts and rank 1 gets, both with the program's own functions, which call PMPI names. No barrier is
 * between the calls (MPI-5.0 15.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0 needs=calls lines=put,get
 */
#include <mpi.h>

int MPI_Put(const void *from, int n, MPI_Datatype type, int target, MPI_Aint at, int m, MPI_Datatype there,
	    MPI_Win win) {
	return PMPI_Put(from, n, type, target, at, m, there, win);
}

int MPI_Get(void *to, int n, MPI_Datatype type, int target, MPI_Aint at, int m, MPI_Datatype there, MPI_Win win) {
	return PMPI_Get(to, n, type, target, at, m, there, win);
}

int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @put */
		MPI_Win_flush(0, win);
	}
#ifndef WRONG
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @get */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
