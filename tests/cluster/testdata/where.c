// Prints the rank and location of a process, then ends as requested: where [HOW [RANK]]. Only the rank RANK (default 1)
// ends as HOW requests.
//
//	fine             MPI_Finalize, status 0
//	abort            MPI_Abort(7)
//	exit             exit(3) without MPI_Finalize
//	kill             a signal without a handler
//	kill_later       like kill, after a second
//	late             status 4 after MPI_Finalize
//	sleep            sleeps while the other ranks wait for it
//	lines            every rank writes 2000 lines
//	input            every rank counts the bytes that it can read
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int rank, size, local, locals, length;
	char host[MPI_MAX_PROCESSOR_NAME];
	MPI_Comm node;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &local);
	MPI_Comm_size(node, &locals);
	MPI_Get_processor_name(host, &length);
	printf("rank %d of %d on %s, %d of %d there\n", rank, size, host, local, locals);
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);

	const char *how = argc > 1 ? argv[1] : "fine";
	int one = argc > 2 ? atoi(argv[2]) : 1;
	if (rank == one) {
		if (strcmp(how, "abort") == 0)
			MPI_Abort(MPI_COMM_WORLD, 7);
		if (strcmp(how, "exit") == 0)
			exit(3);
		if (strcmp(how, "kill_later") == 0)
			sleep(1);
		if (strncmp(how, "kill", 4) == 0)
			raise(SIGKILL);
		if (strcmp(how, "sleep") == 0)
			sleep(300);
	}
	if (strcmp(how, "lines") == 0)
		for (int i = 0; i < 2000; i++)
			printf("line %d of rank %d\n", i, rank);
	if (strcmp(how, "input") == 0 && rank == 0) {
		long bytes = 0;
		while (getchar() != EOF)
			bytes++;
		printf("rank %d has read %ld bytes\n", rank, bytes);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&node);
	MPI_Finalize();
	return strcmp(how, "late") == 0 && rank == one ? 4 : 0;
}
