/* A parent that starts two children, for TestSpawned: spawned MODE. It starts them as "spawned child MODE". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs at the two parents and, with is_child, at the children of job 2, after a process of job 1 has failed. Checks
 * that the failure of a process of another job ends exactly those waits that depend on it. The children are late, so
 * that all waits of the parents sleep. Then a process of job 2 fails. */
static void others(MPI_Comm inter, int is_child, int rank) {
	char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
	int value = 1, sum = 0, class = 0, length;
	MPI_Comm connected, copy, all, pair, pairs;
	MPI_Win win;
	if (is_child)
		usleep(400000);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
	if (is_child) {
		MPI_Bcast(port, sizeof port, MPI_CHAR, 0, inter);
		usleep(400000);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &connected);
	} else {
		if (rank == 0)
			MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Bcast(port, sizeof port, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &connected);
	}
	if (is_child)
		usleep(400000);
	MPI_Comm_dup(connected, &copy);
	if (is_child)
		usleep(400000);
	MPI_Intercomm_merge(copy, is_child, &all);
	if (is_child)
		usleep(400000);
	MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, all, &win);
	MPI_Win_free(&win);
	/* two groups, each of a parent and a child, whose rank is 0 */
	MPI_Comm_split(all, rank, !is_child, &pair);
	MPI_Intercomm_create(pair, 0, all, 3 - rank, 1, &pairs);
	MPI_Comm_set_errhandler(pairs, MPI_ERRORS_RETURN);
	if (is_child && rank == 1)
		raise(SIGKILL);
	if (is_child || rank == 0)
		pause();
	MPI_Error_class(MPI_Comm_dup(pairs, &copy), &class);
	MPI_Error_string(class, text, &length);
	printf("the waits of others continue: sum %d, %d %s\n", sum, class == MPI_ERR_PROC_ABORTED, text);
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, 0);
}

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
		char *args[] = {"child", strcmp(mode, "others") == 0 ? "survive" : argv[1], NULL};
		MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
		printf("parent %d is up %d\n", rank, (int)getpid());
		fflush(stdout);
	}
	/* the children may end before this process has left the barrier */
	if (strcmp(mode, "survive") == 0 || strcmp(mode, "others") == 0)
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Barrier(inter);
	if (is_child && rank == 1 && (strcmp(mode, "crash") == 0 || strcmp(mode, "survive") == 0))
		raise(SIGSEGV);
	if (!is_child && strcmp(mode, "crash") == 0)
		MPI_Recv(&value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE);
	if (is_child && strcmp(mode, "others") == 0)
		others(inter, 1, rank);
	if (!is_child && (strcmp(mode, "survive") == 0 || strcmp(mode, "others") == 0)) {
		char text[MPI_MAX_ERROR_STRING] = "";
		int class, length;
		MPI_Error_class(
			MPI_Recv(&value, 1, MPI_INT, rank == 0 ? 1 : MPI_ANY_SOURCE, 3, inter, MPI_STATUS_IGNORE),
			&class);
		MPI_Error_string(class, text, &length);
		MPI_Barrier(MPI_COMM_WORLD);
		if (strcmp(mode, "others") == 0) {
			char *args[] = {"child", "others", NULL};
			MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
			MPI_Barrier(inter);
			others(inter, 0, rank);
		}
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
