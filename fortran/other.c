/* Entry points that need more than a conversion of each argument: strings whose length is an argument, arrays whose
 * length another function provides, and functions that exist only in Fortran. */
#include "section.h"

#include <limits.h>

/* ---- Info values and names of process sets. In Fortran their lengths do not count a terminating zero. ---- */

ENTRY void NAME(info_get)(const integer *info, const char *key, const integer *valuelen, char *value, logical *flag,
			  integer *ierror, size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	size_t room = *valuelen > 0 ? (size_t)*valuelen + 1 : 1;
	char *c_value = NULL;
	int c_flag = 0, rc = fits("MPI_Info_get", "valuelen", *valuelen, MPI_ERR_ARG);
	if (!rc && !(c_value = calloc(room, 1)))
		rc = MPI_ERR_NO_MEM;
	if (!rc)
		rc = gompi_string_in(&c_key, key, key_len, STRIP_BOTH);
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Info_get)(info_in(*info), c_key.text, (int)*valuelen, c_value, &c_flag);
	if (!rc) {
		if (c_flag)
			gompi_string_out(value, value_len, c_value);
		*flag = logical_out(c_flag);
	}
	free(c_value);
	gompi_string_free(&c_key);
	done(ierror, rc);
}
SAME(info_get, info_get_f08)

/* Returns C's length of a string, which includes the terminating zero. A length that does not fit into an int becomes
 * INT_MAX, which is longer than any string. A negative length stays negative. */
static int length_in(integer length) {
	if (length <= 0)
		return wide(length) ? INT_MIN : (int)length;
	return length >= INT_MAX ? INT_MAX : (int)length + 1;
}

ENTRY void NAME(info_get_string)(const integer *info, const char *key, integer *buflen, char *value, logical *flag,
				 integer *ierror, size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	int c_len = length_in(*buflen);
	char *c_value = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int c_flag = 0, rc = c_value ? gompi_string_in(&c_key, key, key_len, STRIP_BOTH) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Info_get_string)(info_in(*info), c_key.text, &c_len, c_value, &c_flag);
	if (!rc) {
		if (c_flag) {
			if (*buflen > 0)
				gompi_string_out(value, value_len, c_value);
			*buflen = c_len - 1;
		}
		*flag = logical_out(c_flag);
	}
	free(c_value);
	gompi_string_free(&c_key);
	done(ierror, rc);
}
SAME(info_get_string, info_get_string_f08)

ENTRY void NAME(session_get_nth_pset)(const integer *session, const integer *info, const integer *n, integer *pset_len,
				      char *pset_name, integer *ierror, size_t name_len) {
	int c_len = length_in(*pset_len);
	char *c_name = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int rc = c_name ? fits("MPI_Session_get_nth_pset", "n", *n, MPI_ERR_ARG) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise_pending(RAISE_SESSION, *session, rc);
	else
		rc = CALL(Session_get_nth_pset)(session_in(*session), info_in(*info), (int)*n, &c_len, c_name);
	if (!rc) {
		if (*pset_len > 0)
			gompi_string_out(pset_name, name_len, c_name);
		*pset_len = c_len - 1;
	}
	free(c_name);
	done(ierror, rc);
}
SAME(session_get_nth_pset, session_get_nth_pset_f08)

/* ---- Spawning (MPI-5.0 11.8). A blank argument ends the list of arguments. Blanks at both ends of each string are
 * removed. ---- */

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

/* Returns the number of strings before the first blank one. */
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

/* Returns true if this process is the root. Only then are the arguments significant that MPI reads only at the root. */
static bool is_root(integer comm, integer root) {
	int rank = MPI_UNDEFINED;
	return PMPI_Comm_rank(comm_in(comm), &rank) == MPI_SUCCESS && rank == root;
}

/* Allocates the error codes of n processes, or selects MPI_ERRCODES_IGNORE if the program wants none. */
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
		for (size_t i = 0; !rc && i < n; i++) { /* the i-th row of (count, *) */
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

/* ---- Arrays whose length another function provides. ---- */

ENTRY void NAME(cart_sub)(const integer *comm, const logical *remain_dims, integer *newcomm, integer *ierror) {
	struct gompi_array c_remain_dims = {0};
	MPI_Comm c_newcomm = MPI_COMM_NULL;
	int ndims = 0, rc = PMPI_Cartdim_get(comm_in(*comm), &ndims);
	if (rc) { /* the failed call has raised the error */
		done(ierror, rc);
		return;
	}
	rc = logicals_in(&c_remain_dims, ndims, remain_dims);
	if (rc)
		rc = gompi_raise_pending(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Cart_sub)(comm_in(*comm), c_remain_dims.data, &c_newcomm);
	if (!rc)
		*newcomm = comm_out(c_newcomm);
	gompi_array_free(&c_remain_dims);
	done(ierror, rc);
}
SAME(cart_sub, cart_sub_f08)

ENTRY void NAME(type_get_contents)(const integer *datatype, const integer *max_integers, const integer *max_addresses,
				   const integer *max_datatypes, integer *array_of_integers,
				   MPI_Aint *array_of_addresses, integer *array_of_datatypes, integer *ierror) {
	struct gompi_array ints = {0}, types = {0};
	int integers = 0, addresses, n = 0, combiner;
	int rc = fits("MPI_Type_get_contents", "max_integers", *max_integers, MPI_ERR_ARG);
	if (!rc)
		rc = fits("MPI_Type_get_contents", "max_addresses", *max_addresses, MPI_ERR_ARG);
	if (!rc)
		rc = fits("MPI_Type_get_contents", "max_datatypes", *max_datatypes, MPI_ERR_ARG);
	if (!rc)
		rc = ints_room(&ints, *max_integers, array_of_integers);
	if (!rc)
		rc = datatypes_in(&types, *max_datatypes,
				  array_of_datatypes); /* so that a call which does nothing changes nothing */
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents)(datatype_in(*datatype), (int)*max_integers, (int)*max_addresses,
					     (int)*max_datatypes, ints.data, array_of_addresses, types.data);
	if (!rc && !PMPI_Type_get_envelope(datatype_in(*datatype), &integers, &addresses, &n, &combiner)) {
		ints_out(array_of_integers, integers < *max_integers ? integers : *max_integers, &ints);
		for (int i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	}
	ints_free(&ints);
	gompi_array_free(&types);
	done(ierror, rc);
}
SAME(type_get_contents, type_get_contents_f08)

ENTRY void NAME(type_get_contents_c_f08)(const integer *datatype, const MPI_Count *max_integers,
					 const MPI_Count *max_addresses, const MPI_Count *max_large_counts,
					 const MPI_Count *max_datatypes, integer *array_of_integers,
					 MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
					 integer *array_of_datatypes, integer *ierror) {
	struct gompi_array ints = {0}, types = {0};
	MPI_Count integers = 0, addresses, counts, n = 0;
	int combiner, rc = ints_room(&ints, *max_integers, array_of_integers);
	if (!rc)
		rc = datatypes_in(&types, *max_datatypes,
				  array_of_datatypes); /* so that a call which does nothing changes nothing */
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents_c)(datatype_in(*datatype), *max_integers, *max_addresses, *max_large_counts,
					       *max_datatypes, ints.data, array_of_addresses, array_of_large_counts,
					       types.data);
	if (!rc && !PMPI_Type_get_envelope_c(datatype_in(*datatype), &integers, &addresses, &counts, &n, &combiner)) {
		ints_out(array_of_integers, integers < *max_integers ? integers : *max_integers, &ints);
		for (MPI_Count i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	}
	ints_free(&ints);
	gompi_array_free(&types);
	done(ierror, rc);
}

/* ---- Functions that exist only in Fortran (MPI-5.0 19.1). ---- */

/* Does nothing. Because the buffer is an argument, the compiler must store its value in memory before the call and
 * load it again afterwards. */
ENTRY void NAME(f_sync_reg)(void *buf) { (void)buf; }
ENTRY void NAME(f_sync_reg_f08ts)(const CFI_cdesc_t *buf) { (void)buf; }

ENTRY void NAME(sizeof_f08ts)(const CFI_cdesc_t *x, integer *size, integer *ierror) {
	*size = (integer)x->elem_len;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f2f08_f08)(const f_status *from, f_status *f08_status, integer *ierror) {
	*f08_status = *from;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f082f_f08)(const f_status *f08_status, f_status *to, integer *ierror) {
	*to = *f08_status;
	done(ierror, MPI_SUCCESS);
}
