/* spawn_killed VICTIM STEP [KEY=VALUE]: starts two children. At a step, a process kills the victim with SIGKILL:
 * parent0, parent1, child0, child1, or launcher, which is the parent process. The steps are before (the parents call
 * MPI_Comm_spawn), start (the children have not called MPI_Init), up (they have), and after (parents and children have
 * communicated). With the victim `none`, parents start children again and again.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *victim, *wanted;
static int rank;

/* Kills the victim if the step is the wanted one. Rank 0 kills processes of other roles. */
static void at(const char *role, const char *step, char **parents) {
	char own[20];
	snprintf(own, sizeof own, "%s%d", role, rank);
	if (strcmp(step, wanted) != 0)
		return;
	if (strcmp(victim, own) == 0)
		raise(SIGKILL);
	if (rank != 0)
		return;
	if (strcmp(victim, "launcher") == 0) {
		kill(getppid(), SIGKILL);
		if (strcmp(step, "start") != 0) /* Hydra leaves processes that have not called MPI_Init */
			pause();
	}
	if (parents != NULL && strncmp(victim, "parent", 6) == 0)
		kill(atoi(parents[victim[6] - '0']), SIGKILL);
}

static const char *name_of(int error) {
	int class;
	MPI_Error_class(error, &class);
	return class == MPI_SUCCESS            ? "MPI_SUCCESS"
	       : class == MPI_ERR_SPAWN        ? "MPI_ERR_SPAWN"
	       : class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED"
					       : "another error";
}

static int child(int argc, char **argv) {
	MPI_Comm parent;
	const char *number = getenv("PMI_RANK");
	rank = number == NULL ? 0 : atoi(number);
	at("child", "start", argv + 3);
	MPI_Init(&argc, &argv);
	at("child", "up", argv + 3);
	MPI_Comm_get_parent(&parent);
	MPI_Barrier(parent);
	at("child", "after", argv + 3);
	MPI_Barrier(parent);
	MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return 0;
}

int main(int argc, char **argv) {
	MPI_Comm inter;
	MPI_Info info = MPI_INFO_NULL;
	int size, pids[2] = {0, 0}, mine = getpid(), error;
	char text[2][20], *args[] = {argv[1], argv[2], text[0], text[1], "child", NULL};
	victim = argv[1];
	wanted = argv[2];
	if (argc == 6)
		return child(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	snprintf(text[0], sizeof text[0], "%d", pids[0]);
	snprintf(text[1], sizeof text[1], "%d", pids[size - 1]);
	if (argc == 4) {
		char *value = strchr(argv[3], '=');
		*value = '\0';
		MPI_Info_create(&info);
		MPI_Info_set(info, argv[3], value + 1);
	}
	at("parent", "before", NULL);
	do {
		error = MPI_Comm_spawn(argv[0], args, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
		if (error == MPI_SUCCESS) {
			MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
			error = MPI_Barrier(inter);
			if (error == MPI_SUCCESS)
				error = MPI_Barrier(inter);
			if (error == MPI_SUCCESS)
				MPI_Comm_disconnect(&inter);
		}
	} while (strcmp(victim, "none") == 0 && error == MPI_SUCCESS);
	printf("parent %d: %s\n", rank, name_of(error));
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
