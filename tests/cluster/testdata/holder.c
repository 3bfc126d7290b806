// The last rank holds the lock of rank 0's window, for which all other ranks wait. It then kills itself (holder kill),
// or keeps running.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int rank, size, one = 1, class;
	int *memory;
	MPI_Win window;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	if (rank == size - 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
		MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
		MPI_Win_flush(0, window);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d begins\n", rank);
	fflush(stdout);
	if (rank == size - 1) {
		sleep(1); // the other ranks wait for the lock, or soon will: both cases are valid
		if (argc > 1 && strcmp(argv[1], "kill") == 0)
			raise(SIGKILL);
		sleep(300);
	}
	int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
	if (rc == MPI_SUCCESS)
		rc = MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_unlock(0, window);
	MPI_Error_class(rc, &class);
	printf("rank %d got %s\n", rank, class == MPI_SUCCESS ? "the lock" : "an error");
	fflush(stdout);
	sleep(1); // MPI_Abort ends the job, so wait until the other ranks have the lock or an error too
	MPI_Abort(MPI_COMM_WORLD, 5);
	return 0;
}
