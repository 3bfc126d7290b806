/* Spawning (MPI-5.0 11.8). A blank string ends a list of arguments. Leading and trailing blanks of each string are
 * removed. */
#include "section.h"

/* Returns a list of n C strings that ends with NULL, or NULL if out of memory. The list and the strings share one
 * allocation, which begins with the list. */
static char **strings(const char *from, size_t n, size_t length, size_t stride) {
	char **list = malloc((n + 1) * sizeof *list + n * (length + 1));
	char *text = (char *)(list + n + 1);
	if (!list)
		return NULL;
	for (size_t i = 0; i < n; i++, from += stride, text += length + 1) {
		size_t first = 0, end = length;
		while (end > 0 && from[end - 1] == ' ')
			end--;
		while (first < end && from[first] == ' ')
			first++;
		memcpy(text, from + first, end - first);
		text[end - first] = 0;
		list[i] = text;
	}
	list[n] = NULL;
	return list;
}

/* Returns the number of strings before the first blank string. */
static size_t until_blank(const char *from, size_t length, size_t stride) {
	size_t n = 0;
	for (;; n++, from += stride) {
		size_t i = 0;
		while (i < length && from[i] == ' ')
			i++;
		if (i == length)
			return n;
	}
}

/* Returns true if this process is the root. The command and its arguments are significant only at the root. */
static bool is_root(integer comm, integer root) {
	int rank = MPI_UNDEFINED;
	return PMPI_Comm_rank(comm_in(comm), &rank) == MPI_SUCCESS && rank == root;
}

/* Allocates an array for the error codes of n processes. If errcodes is Fortran's MPI_ERRCODES_IGNORE, sets C's
 * MPI_ERRCODES_IGNORE instead. */
static int errcodes_room(struct gompi_array *a, MPI_Count n, integer *errcodes) {
	if (errcodes != gompi_f_errcodes_ignore_)
		return ints_room(a, n, errcodes);
	a->data = MPI_ERRCODES_IGNORE;
	return MPI_SUCCESS;
}

static void errcodes_out(integer *errcodes, MPI_Count n, struct gompi_array *a) {
	if (errcodes != gompi_f_errcodes_ignore_)
		ints_out(errcodes, n, a);
	ints_free(a);
}

ENTRY void NAME(comm_spawn)(const char *command, const char *argv, const integer *maxprocs, const integer *info,
			    const integer *root, const integer *comm, integer *intercomm, integer *array_of_errcodes,
			    integer *ierror, size_t command_len, size_t argv_len) {
	bool here = is_root(*comm, *root);
	char **c_command = NULL, **c_argv = MPI_ARGV_NULL;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	struct gompi_array errcodes = {0};
	int rc = fits("MPI_Comm_spawn", "root", *root, MPI_ERR_ROOT);
	if (!rc && here)
		rc = fits("MPI_Comm_spawn", "maxprocs", *maxprocs, MPI_ERR_SPAWN);
	if (here && !(c_command = strings(command, 1, command_len, 0)))
		rc = MPI_ERR_NO_MEM;
	if (here && argv != gompi_f_argv_null_ &&
	    !(c_argv = strings(argv, until_blank(argv, argv_len, argv_len), argv_len, argv_len)))
		rc = MPI_ERR_NO_MEM;
	if (!rc)
		rc = errcodes_room(&errcodes, *maxprocs, array_of_errcodes);
	if (rc)
		rc = gompi_raise_pending(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Comm_spawn)(here ? c_command[0] : "", c_argv, (int)*maxprocs, info_in(*info), (int)*root,
				      comm_in(*comm), &c_intercomm, errcodes.data);
	if (!rc)
		*intercomm = comm_out(c_intercomm);
	errcodes_out(array_of_errcodes, rc ? 0 : *maxprocs, &errcodes);
	free(c_command);
	free(c_argv);
	done(ierror, rc);
}
SAME(comm_spawn, comm_spawn_f08)

ENTRY void NAME(comm_spawn_multiple)(const integer *count, const char *array_of_commands, const char *array_of_argv,
				     const integer *array_of_maxprocs, const integer *array_of_info,
				     const integer *root, const integer *comm, integer *intercomm,
				     integer *array_of_errcodes, integer *ierror, size_t commands_len,
				     size_t argv_len) {
	bool here = is_root(*comm, *root);
	size_t n = here && *count > 0 ? (size_t)*count : 0;
	char **commands = NULL, ***argvs = MPI_ARGVS_NULL;
	struct gompi_array infos = {0}, maxprocs = {0}, errcodes = {0};
	MPI_Count processes = sum_of((MPI_Count)n, array_of_maxprocs);
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	int rc = fits("MPI_Comm_spawn_multiple", "root", *root, MPI_ERR_ROOT);
	if (!rc && here)
		rc = fits("MPI_Comm_spawn_multiple", "count", *count, MPI_ERR_COUNT);
	if (!rc)
		rc = all_fit("MPI_Comm_spawn_multiple", "array_of_maxprocs", (MPI_Count)n, array_of_maxprocs,
			     MPI_ERR_SPAWN);
	if (!rc)
		rc = ints_in(&maxprocs, (MPI_Count)n, array_of_maxprocs);
	if (!rc)
		rc = errcodes_room(&errcodes, processes, array_of_errcodes);
	if (!rc)
		rc = infos_in(&infos, (MPI_Count)n, array_of_info);
	if (!rc && here && !(commands = strings(array_of_commands, n, commands_len, commands_len)))
		rc = MPI_ERR_NO_MEM;
	if (!rc && here && array_of_argv != gompi_f_argvs_null_) {
		argvs = calloc(n + 1, sizeof *argvs);
		if (!argvs)
			rc = MPI_ERR_NO_MEM;
		for (size_t i = 0; !rc && i < n; i++) { /* row i of array_of_argv(count, *) holds the arguments of
		                                         * command i */
			const char *row = array_of_argv + i * argv_len;
			argvs[i] = strings(row, until_blank(row, argv_len, n * argv_len), argv_len, n * argv_len);
			if (!argvs[i])
				rc = MPI_ERR_NO_MEM;
		}
	}
	if (rc)
		rc = gompi_raise_pending(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Comm_spawn_multiple)((int)*count, commands, argvs, maxprocs.data, infos.data, (int)*root,
					       comm_in(*comm), &c_intercomm, errcodes.data);
	if (!rc)
		*intercomm = comm_out(c_intercomm);
	errcodes_out(array_of_errcodes, rc ? 0 : processes, &errcodes);
	for (size_t i = 0; argvs && i < n; i++)
		free(argvs[i]);
	free(argvs);
	free(commands);
	gompi_array_free(&infos);
	ints_free(&maxprocs);
	done(ierror, rc);
}
SAME(comm_spawn_multiple, comm_spawn_multiple_f08)
