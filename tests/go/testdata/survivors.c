/* Rank 0 ends in the way that argv[1] names, or waits for rank 1. The other ranks ignore SIGTERM and wait for rank 0,
 * so that all of them see it end before they end themselves. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	int rank, x;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank != 0) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("up\n");
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && strcmp(argv[1], "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (rank == 0 && strcmp(argv[1], "die") == 0)
		raise(SIGKILL);
	MPI_Recv(&x, 1, MPI_INT, rank == 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
