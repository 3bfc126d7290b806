/* A parent that starts two children, for TestSpawned: spawned MODE. It starts them as "spawned child MODE". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int is_child = argc > 2, rank, value = 0;
	const char *mode = argv[argc - 1];
	MPI_Comm inter;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (is_child) {
		MPI_Comm_get_parent(&inter);
		printf("child %d is up %d\n", rank, (int)getpid());
		fflush(stdout);
	} else {
		char *args[] = {"child", argv[1], NULL};
		MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
		printf("parent %d is up %d\n", rank, (int)getpid());
		fflush(stdout);
	}
	if (strcmp(mode, "survive") == 0) /* the children may end before this process has left the barrier */
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Barrier(inter);
	if (is_child && rank == 1 && (strcmp(mode, "crash") == 0 || strcmp(mode, "survive") == 0))
		raise(SIGSEGV);
	if (!is_child && strcmp(mode, "crash") == 0)
		MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE);
	if (!is_child && strcmp(mode, "survive") == 0) {
		char text[MPI_MAX_ERROR_STRING] = "";
		int class, length;
		MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE), &class);
		MPI_Error_string(class, text, &length);
		MPI_Barrier(MPI_COMM_WORLD);
		printf("parent %d goes on: %d %s\n", rank, class == MPI_ERR_PROC_ABORTED, text);
		MPI_Finalize();
		return 0;
	}
	if (is_child && strcmp(mode, "survive") == 0)
		pause();
	if (is_child && rank == 1 && strcmp(mode, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 42);
	if (strcmp(mode, "stuck") == 0) /* parents and children wait for each other */
		MPI_Recv(&value, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
	if (strcmp(mode, "wait") == 0 || strcmp(mode, "crash") == 0 || strcmp(mode, "abort") == 0)
		pause();
	if (!is_child && strcmp(mode, "leave") == 0)
		_exit(0);
	if (is_child && strcmp(mode, "leave") == 0)
		pause();
	MPI_Comm_disconnect(&inter);
	MPI_Finalize();
	return is_child && rank == 1 && strcmp(mode, "status") == 0 ? 3 : 0;
}
