/* Entry points whose arguments are Fortran procedures: reduction operations, error handlers, generalized requests,
 * data representations. */
#include "callback.h"

ENTRY void NAME(op_create_c_f08)(gompi_procedure *user_fn, const logical *commute, integer *op, integer *ierror) {
	MPI_User_function_c *function = gompi_op_function_c(user_fn);
	MPI_Op c_op = MPI_OP_NULL;
	int rc = function ? CALL(Op_create_c)(function, logical_in(*commute), &c_op)
			  : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);
	if (!rc)
		*op = op_out(c_op);
	done(ierror, rc);
}

ENTRY void NAME(op_create)(gompi_procedure *user_fn, const logical *commute, integer *op, integer *ierror) {
	MPI_User_function *function;
	MPI_Op c_op = MPI_OP_NULL;
	int rc;
	if (EIGHT) { /* the argument `len` of the procedure has 8 bytes, as in the large-count form */
		NAME(op_create_c_f08)(user_fn, commute, op, ierror);
		return;
	}
	function = gompi_op_function(user_fn);
	rc = function ? CALL(Op_create)(function, logical_in(*commute), &c_op)
		      : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);
	if (!rc)
		*op = op_out(c_op);
	done(ierror, rc);
}
SAME(op_create, op_create_f08)

#define CREATE_ERRHANDLER(Type, type)                                                                       \
	ENTRY void NAME(type##_create_errhandler)(gompi_procedure * procedure, integer * errhandler,        \
						  integer * ierror) {                                       \
		MPI_##Type##_errhandler_function *function = gompi_##type##_errhandler_function(procedure); \
		MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;                                          \
		int rc = function ? CALL(Type##_create_errhandler)(function, &c_errhandler)                 \
				  : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);                     \
		if (!rc)                                                                                    \
			*errhandler = errhandler_out(c_errhandler);                                         \
		done(ierror, rc);                                                                           \
	}                                                                                                   \
	SAME(type##_create_errhandler, type##_create_errhandler_f08)

CREATE_ERRHANDLER(Comm, comm)
CREATE_ERRHANDLER(File, file)
CREATE_ERRHANDLER(Session, session)
CREATE_ERRHANDLER(Win, win)

/* ---- Generalized requests (MPI-5.0 13.2). Each request has a struct grequest, which the free callback frees. The
 * program's procedures get the program's own extra_state variable, not a copy. ---- */

struct grequest {
	void (*query)(MPI_Aint *extra, f_status *status, integer *ierror);
	void (*free)(MPI_Aint *extra, integer *ierror);
	void (*cancel)(MPI_Aint *extra, logical *complete, integer *ierror);
	MPI_Aint *extra;
};

static int query(void *state, MPI_Status *status) {
	struct grequest *g = state;
	integer ierror = MPI_SUCCESS;
	f_status own, *f_status_of = status_for(status, &own);
	g->query(g->extra, f_status_of, &ierror);
	status_from(status, f_status_of);
	return code_in(ierror);
}

static int release(void *state) {
	struct grequest *g = state;
	integer ierror = MPI_SUCCESS;
	g->free(g->extra, &ierror);
	free(g);
	return code_in(ierror);
}

static int cancel(void *state, int complete) {
	struct grequest *g = state;
	integer ierror = MPI_SUCCESS;
	logical f_complete = logical_out(complete);
	g->cancel(g->extra, &f_complete, &ierror);
	return code_in(ierror);
}

ENTRY void NAME(grequest_start)(gompi_procedure *query_fn, gompi_procedure *free_fn, gompi_procedure *cancel_fn,
				MPI_Aint *extra_state, integer *request, integer *ierror) {
	struct grequest *g = malloc(sizeof *g);
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!g) {
		done(ierror, gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM));
		return;
	}
	g->query = (void (*)(MPI_Aint *, f_status *, integer *))query_fn;
	g->free = (void (*)(MPI_Aint *, integer *))free_fn;
	g->cancel = (void (*)(MPI_Aint *, logical *, integer *))cancel_fn;
	g->extra = extra_state;
	rc = CALL(Grequest_start)(query, release, cancel, g, &c_request);
	if (!rc)
		*request = request_out(c_request);
	else
		free(g);
	done(ierror, rc);
}
SAME(grequest_start, grequest_start_f08)

/* ---- Data representations (MPI-5.0 14.5.3). MPI never unregisters them. The program's procedures get the program's
 * own extra_state variable, not a copy. ---- */

typedef void convert(void *userbuf, integer *datatype, integer *count, void *filebuf, MPI_Offset *position,
		     MPI_Aint *extra, integer *ierror);
typedef void convert_c(void *userbuf, integer *datatype, MPI_Count *count, void *filebuf, MPI_Offset *position,
		       MPI_Aint *extra, integer *ierror);

struct datarep {
	gompi_procedure *read, *write;
	void (*extent)(integer *datatype, MPI_Aint *extent, MPI_Aint *extra, integer *ierror);
	MPI_Aint *extra;
};

static int datarep_read(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position,
			void *state) {
	struct datarep *d = state;
	integer ierror = MPI_SUCCESS, type = datatype_out(datatype), n = count;
	((convert *)d->read)(userbuf, &type, &n, filebuf, &position, d->extra, &ierror);
	return code_in(ierror);
}

static int datarep_write(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position,
			 void *state) {
	struct datarep *d = state;
	integer ierror = MPI_SUCCESS, type = datatype_out(datatype), n = count;
	((convert *)d->write)(userbuf, &type, &n, filebuf, &position, d->extra, &ierror);
	return code_in(ierror);
}

static int datarep_read_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position,
			  void *state) {
	struct datarep *d = state;
	integer ierror = MPI_SUCCESS, type = datatype_out(datatype);
	((convert_c *)d->read)(userbuf, &type, &count, filebuf, &position, d->extra, &ierror);
	return code_in(ierror);
}

static int datarep_write_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position,
			   void *state) {
	struct datarep *d = state;
	integer ierror = MPI_SUCCESS, type = datatype_out(datatype);
	((convert_c *)d->write)(userbuf, &type, &count, filebuf, &position, d->extra, &ierror);
	return code_in(ierror);
}

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state) {
	struct datarep *d = state;
	integer ierror = MPI_SUCCESS, type = datatype_out(datatype);
	d->extent(&type, extent, d->extra, &ierror);
	return code_in(ierror);
}

/* Defines the predefined procedures. MPI never calls them; the bindings recognize them by their addresses. */
#ifndef GOMPI_F_PROFILING
ENTRY void mpi_conversion_fn_null_(void) {}
ENTRY void mpi_conversion_fn_null_c_(void) {}
#else
extern gompi_procedure mpi_conversion_fn_null_, mpi_conversion_fn_null_c_;
#endif

static bool null_conversion(gompi_procedure *p) {
	return p == mpi_conversion_fn_null_ || p == mpi_conversion_fn_null_c_;
}

static struct datarep *new_datarep(gompi_procedure *read, gompi_procedure *write, gompi_procedure *extent,
				   MPI_Aint *extra) {
	struct datarep *d = malloc(sizeof *d);
	if (d)
		*d = (struct datarep){.read = read,
				      .write = write,
				      .extent = (void (*)(integer *, MPI_Aint *, MPI_Aint *, integer *))extent,
				      .extra = extra};
	return d;
}

/* Defines an entry point of MPI_Register_datarep or its large-count form, whose C functions have different types. */
#define REGISTER_DATAREP(label, function, reader, writer, null)                                                       \
	ENTRY void NAME(label)(const char *datarep, gompi_procedure *read_conversion_fn,                              \
			       gompi_procedure *write_conversion_fn, gompi_procedure *dtype_file_extent_fn,           \
			       MPI_Aint *extra_state, integer *ierror, size_t datarep_len) {                          \
		struct gompi_string name = {0};                                                                       \
		struct datarep *d =                                                                                   \
			new_datarep(read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state);      \
		int rc = d ? gompi_string_in(&name, datarep, datarep_len, STRIP_TRAILING) : MPI_ERR_NO_MEM;           \
		if (rc)                                                                                               \
			rc = gompi_raise_pending(RAISE_FILE, (int)(intptr_t)MPI_FILE_NULL, rc);                       \
		else                                                                                                  \
			rc = CALL(function)(name.text, null_conversion(read_conversion_fn) ? null : reader,           \
					    null_conversion(write_conversion_fn) ? null : writer, datarep_extent, d); \
		if (rc)                                                                                               \
			free(d);                                                                                      \
		gompi_string_free(&name);                                                                             \
		done(ierror, rc);                                                                                     \
	}

REGISTER_DATAREP(register_datarep, Register_datarep, datarep_read, datarep_write, MPI_CONVERSION_FN_NULL)
SAME(register_datarep, register_datarep_f08)
REGISTER_DATAREP(register_datarep_c_f08, Register_datarep_c, datarep_read_c, datarep_write_c, MPI_CONVERSION_FN_NULL_C)
