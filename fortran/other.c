/* Functions that need more than a conversion of each argument: strings whose length is an argument, arrays whose length
 * another function knows, and those that only Fortran has. */
#include "section.h"

/* ---- Info values and names of process sets. Their lengths count no terminating zero in Fortran. ---- */

ENTRY void NAME(info_get)(const int *info, const char *key, const int *valuelen, char *value, int *flag, int *ierror,
			  size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	size_t room = *valuelen > 0 ? (size_t)*valuelen + 1 : 1;
	char *c_value = calloc(room, 1);
	int c_flag = 0, rc = c_value ? gompi_string_in(&c_key, key, key_len, STRIP_BOTH) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
	else
		rc = CALL(Info_get)(info_in(*info), c_key.text, *valuelen, c_value, &c_flag);
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

ENTRY void NAME(info_get_string)(const int *info, const char *key, int *buflen, char *value, int *flag, int *ierror,
				 size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	int c_len = *buflen > 0 ? *buflen + 1 : *buflen;
	char *c_value = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int c_flag = 0, rc = c_value ? gompi_string_in(&c_key, key, key_len, STRIP_BOTH) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
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

ENTRY void NAME(session_get_nth_pset)(const int *session, const int *info, const int *n, int *pset_len, char *pset_name,
				      int *ierror, size_t name_len) {
	int c_len = *pset_len > 0 ? *pset_len + 1 : *pset_len;
	char *c_name = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int rc = c_name ? CALL(Session_get_nth_pset)(session_in(*session), info_in(*info), *n, &c_len, c_name)
			: gompi_raise(RAISE_SESSION, *session, MPI_ERR_NO_MEM);
	if (!rc) {
		if (*pset_len > 0)
			gompi_string_out(pset_name, name_len, c_name);
		*pset_len = c_len - 1;
	}
	free(c_name);
	done(ierror, rc);
}
SAME(session_get_nth_pset, session_get_nth_pset_f08)

/* ---- Spawning (MPI-5.0 11.8). Arguments end at a blank one, and all strings lose the blanks around them. ---- */

/* A list of C strings, all in one piece of memory that begins with the list. */
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

/* until_blank counts the strings in front of the first blank one. */
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

/* is_root tells whether the arguments that only the root has are there. */
static bool is_root(int comm, int root) {
	int rank = MPI_UNDEFINED;
	return PMPI_Comm_rank(comm_in(comm), &rank) == MPI_SUCCESS && rank == root;
}

static int *errcodes_in(int *errcodes) { return errcodes == gompi_f_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : errcodes; }

ENTRY void NAME(comm_spawn)(const char *command, const char *argv, const int *maxprocs, const int *info,
			    const int *root, const int *comm, int *intercomm, int *array_of_errcodes, int *ierror,
			    size_t command_len, size_t argv_len) {
	bool here = is_root(*comm, *root);
	char **c_command = NULL, **c_argv = MPI_ARGV_NULL;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	int rc = MPI_SUCCESS;
	if (here && !(c_command = strings(command, 1, command_len, 0)))
		rc = MPI_ERR_NO_MEM;
	if (here && argv != gompi_f_argv_null_ &&
	    !(c_argv = strings(argv, until_blank(argv, argv_len, argv_len), argv_len, argv_len)))
		rc = MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Comm_spawn)(here ? c_command[0] : "", c_argv, *maxprocs, info_in(*info), *root,
				      comm_in(*comm), &c_intercomm, errcodes_in(array_of_errcodes));
	if (!rc)
		*intercomm = comm_out(c_intercomm);
	free(c_command);
	free(c_argv);
	done(ierror, rc);
}
SAME(comm_spawn, comm_spawn_f08)

ENTRY void NAME(comm_spawn_multiple)(const int *count, const char *array_of_commands, const char *array_of_argv,
				     const int *array_of_maxprocs, const int *array_of_info, const int *root,
				     const int *comm, int *intercomm, int *array_of_errcodes, int *ierror,
				     size_t commands_len, size_t argv_len) {
	bool here = is_root(*comm, *root);
	size_t n = here && *count > 0 ? (size_t)*count : 0;
	char **commands = NULL, ***argvs = MPI_ARGVS_NULL;
	struct gompi_array infos = {0};
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	int rc = infos_in(&infos, (MPI_Count)n, array_of_info);
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
		rc = gompi_raise(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Comm_spawn_multiple)(*count, commands, argvs, array_of_maxprocs, infos.data, *root,
					       comm_in(*comm), &c_intercomm, errcodes_in(array_of_errcodes));
	if (!rc)
		*intercomm = comm_out(c_intercomm);
	for (size_t i = 0; argvs && i < n; i++)
		free(argvs[i]);
	free(argvs);
	free(commands);
	gompi_array_free(&infos);
	done(ierror, rc);
}
SAME(comm_spawn_multiple, comm_spawn_multiple_f08)

/* ---- Arrays whose length another function knows. ---- */

ENTRY void NAME(cart_sub)(const int *comm, const int *remain_dims, int *newcomm, int *ierror) {
	struct gompi_array c_remain_dims = {0};
	MPI_Comm c_newcomm = MPI_COMM_NULL;
	int ndims = 0, rc = PMPI_Cartdim_get(comm_in(*comm), &ndims);
	if (rc) { /* raised there */
		done(ierror, rc);
		return;
	}
	rc = logicals_in(&c_remain_dims, ndims, remain_dims);
	if (rc)
		rc = gompi_raise(RAISE_COMM, *comm, rc);
	else
		rc = CALL(Cart_sub)(comm_in(*comm), c_remain_dims.data, &c_newcomm);
	if (!rc)
		*newcomm = comm_out(c_newcomm);
	gompi_array_free(&c_remain_dims);
	done(ierror, rc);
}
SAME(cart_sub, cart_sub_f08)

ENTRY void NAME(type_get_contents)(const int *datatype, const int *max_integers, const int *max_addresses,
				   const int *max_datatypes, int *array_of_integers, MPI_Aint *array_of_addresses,
				   int *array_of_datatypes, int *ierror) {
	struct gompi_array types = {0};
	int integers, addresses, n = 0, combiner;
	int rc = datatypes_in(&types, *max_datatypes,
			      array_of_datatypes); /* so that a call which does nothing changes nothing */
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents)(datatype_in(*datatype), *max_integers, *max_addresses, *max_datatypes,
					     array_of_integers, array_of_addresses, types.data);
	if (!rc && !PMPI_Type_get_envelope(datatype_in(*datatype), &integers, &addresses, &n, &combiner))
		for (int i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	gompi_array_free(&types);
	done(ierror, rc);
}
SAME(type_get_contents, type_get_contents_f08)

ENTRY void NAME(type_get_contents_c_f08)(const int *datatype, const MPI_Count *max_integers,
					 const MPI_Count *max_addresses, const MPI_Count *max_large_counts,
					 const MPI_Count *max_datatypes, int *array_of_integers,
					 MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
					 int *array_of_datatypes, int *ierror) {
	struct gompi_array types = {0};
	MPI_Count integers, addresses, counts, n = 0;
	int combiner, rc = datatypes_in(&types, *max_datatypes,
					array_of_datatypes); /* so that a call which does nothing changes nothing */
	if (rc)
		rc = gompi_raise(RAISE_SELF, 0, rc);
	else
		rc = CALL(Type_get_contents_c)(datatype_in(*datatype), *max_integers, *max_addresses, *max_large_counts,
					       *max_datatypes, array_of_integers, array_of_addresses,
					       array_of_large_counts, types.data);
	if (!rc && !PMPI_Type_get_envelope_c(datatype_in(*datatype), &integers, &addresses, &counts, &n, &combiner))
		for (MPI_Count i = 0; i < n && i < *max_datatypes; i++)
			array_of_datatypes[i] = datatype_out(((MPI_Datatype *)types.data)[i]);
	gompi_array_free(&types);
	done(ierror, rc);
}

/* ---- For Fortran alone (MPI-5.0 19.1). ---- */

/* The buffer is an argument, and that is all: the compiler must have its value in memory, and take it from there
 * afterwards. */
ENTRY void NAME(f_sync_reg)(void *buf) { (void)buf; }
ENTRY void NAME(f_sync_reg_f08ts)(const CFI_cdesc_t *buf) { (void)buf; }

ENTRY void NAME(sizeof_f08ts)(const CFI_cdesc_t *x, int *size, int *ierror) {
	*size = (int)x->elem_len;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f2f08_f08)(const MPI_Status *f_status, MPI_Status *f08_status, int *ierror) {
	*f08_status = *f_status;
	done(ierror, MPI_SUCCESS);
}

ENTRY void NAME(status_f082f_f08)(const MPI_Status *f08_status, MPI_Status *f_status, int *ierror) {
	*f_status = *f08_status;
	done(ierror, MPI_SUCCESS);
}
