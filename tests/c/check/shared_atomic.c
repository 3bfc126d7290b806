/* clean: Rank 0 stores data and sets an atomic flag. Rank 1 waits for the flag, then reads the data (MPI-5.0 12.7).
 * race: Rank 0 stores data and sets an atomic flag. Rank 1 reads the data before it checks the flag (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 * find clean: nothing needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int unit, *peer;
	MPI_Aint size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_shared_query(win, 1, &size, &unit, &peer);
	MPI_Win_lock_all(0, win);
	mem[1] = 0;
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	if (rank == 0) {
		peer[0] = 3; /* @first */
		MPI_Win_sync(win);
		__atomic_store_n(&peer[1], 1, __ATOMIC_RELEASE);
	}
	if (rank == 1) {
#ifdef WRONG
		printf("%d\n", mem[0] == 3); /* @second */
		while (__atomic_load_n(&mem[1], __ATOMIC_ACQUIRE) == 0)
			MPI_Win_sync(win);
#else
		while (__atomic_load_n(&mem[1], __ATOMIC_ACQUIRE) == 0)
			MPI_Win_sync(win);
		printf("%d\n", mem[0] == 3);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
