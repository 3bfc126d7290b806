/* Every rank puts its rank + 1 to every rank, itself included. Each rank begins with a different target. With an
 * argument only the ranks of the first half put, so that no rank of the second half requests a connection. Prints
 * "fine" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int rank, size, *base, bad = 0, all;
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(size * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	const int who = argc > 1 ? size / 2 : size;
	for (int i = 0; i < size; i++)
		base[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < size && rank < who; i++) {
		int mine = rank + 1, to = (rank * 7 + i) % size;
		MPI_Put(&mine, 1, MPI_INT, to, rank, 1, MPI_INT, win);
		MPI_Win_flush(to, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < who; i++)
		bad += base[i] != i + 1;
	MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf(all == 0 ? "fine\n" : "%d are wrong\n", all);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
