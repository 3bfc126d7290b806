/* The last rank is killed. The others shrink MPI_COMM_WORLD, continue without this rank, and end with status 0. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, size, sum = 0;
	MPI_Comm survivors;
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1)
		raise(SIGKILL);
	while (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS)
		;
	MPIX_Comm_revoke(MPI_COMM_WORLD);
	MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
	MPI_Comm_rank(survivors, &rank);
	MPI_Comm_size(survivors, &size);
	sum = 0;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, survivors);
	printf("%d of %d survivors: sum %d\n", rank, size, sum);
	MPI_Comm_free(&survivors);
	MPI_Finalize();
}
