/* spawn_keys N[,N...] [KEY=VALUE | PART:KEY=VALUE]...: starts processes of itself with info keys, one command for each
 * N. The parent prints how many it has started and the error codes, or the error. Each child prints where it runs. With
 * the key `how`, the children end in another way than by MPI_Finalize.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 4, MOST = 1000 };

static int child(MPI_Comm parent) {
	char name[MPI_MAX_PROCESSOR_NAME], line[MPI_MAX_PROCESSOR_NAME + 100], folder[100] = "?";
	int rank, size, length, sum, one = 1, *number, found;
	const char *how = getenv("HOW");
	cpu_set_t set;
	sched_getaffinity(0, sizeof set, &set);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(name, &length);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
	snprintf(line, sizeof line, "child %d of %d, command %d, %d parents, on %s, in %s, with %d cores\n", rank, size,
		 found ? *number : -1, sum, name, getcwd(folder, sizeof folder), CPU_COUNT(&set));
	fputs(line, stdout);
	fflush(stdout);
	MPI_Barrier(parent);
	if (how != NULL && strcmp(how, "status") == 0 && rank == size - 1)
		exit(3);
	if (how != NULL && strcmp(how, "pause") == 0)
		pause();
	MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return 0;
}

int main(int argc, char **argv) {
	MPI_Comm parent, inter;
	char *commands[PARTS], text[MPI_MAX_ERROR_STRING];
	int numbers[PARTS], codes[MOST], parts = 0, rank, size, class, length, sum, one = 1, requested = 0;
	MPI_Info infos[PARTS];
	const char *how = "";
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		return child(parent);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (char *n = strtok(argv[1], ","); n != NULL; n = strtok(NULL, ",")) {
		numbers[parts] = atoi(n);
		requested += numbers[parts];
		commands[parts] = argv[0];
		MPI_Info_create(&infos[parts++]);
	}
	for (int i = 2; i < argc; i++) {
		char *key = argv[i], *value = strchr(argv[i], '=');
		int part = parts == 1 ? 0 : -1;
		*value++ = '\0';
		if (key[1] == ':') {
			part = key[0] - '0';
			key += 2;
		}
		if (strcmp(key, "how") == 0)
			how = value;
		for (int k = 0; k < parts; k++)
			if (part < 0 || part == k) {
				if (strcmp(key, "command") == 0)
					commands[k] = value;
				else
					MPI_Info_set(infos[k], key, value);
			}
	}
	memset(codes, -1, sizeof codes);
	int error = parts == 1 ? MPI_Comm_spawn(commands[0], MPI_ARGV_NULL, numbers[0], infos[0], 0, MPI_COMM_WORLD,
						&inter, codes)
			       : MPI_Comm_spawn_multiple(parts, commands, MPI_ARGVS_NULL, numbers, infos, 0,
							 MPI_COMM_WORLD, &inter, codes);
	MPI_Error_class(error, &class);
	MPI_Error_string(error, text, &length);
	if (error != MPI_SUCCESS) {
		printf("parent %d: class %s, codes", rank,
		       class == MPI_ERR_SPAWN        ? "MPI_ERR_SPAWN"
		       : class == MPI_ERR_INFO_VALUE ? "MPI_ERR_INFO_VALUE"
						     : "other");
		for (int i = 0; i < requested; i++)
			printf(" %d", codes[i] > 0 ? 1 : codes[i]);
		printf(", %s\n", text);
		MPI_Finalize();
		return 0;
	}
	MPI_Comm_remote_size(inter, &size);
	printf("parent %d: %d started, codes", rank, size);
	for (int i = 0; i < requested; i++)
		printf(" %d", codes[i] > 0 ? 1 : codes[i]);
	printf("\n");
	fflush(stdout);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
	if (strcmp(how, "status") == 0 || strcmp(how, "pause") == 0)
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Barrier(inter);
	if (strcmp(how, "") == 0)
		MPI_Comm_disconnect(&inter);
	if (strcmp(how, "pause") == 0)
		pause();
	MPI_Finalize();
	return 0;
}
