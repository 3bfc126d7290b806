/* Cells for attributes that Fortran sets, and C callbacks that call the program's copy and delete procedures. */
#include "attribute.h"

#include <pthread.h>

/* ---- Cells. They are in blocks of memory that are never freed, so that the pointer alone shows whether an attribute
 * is a cell, that is, whether Fortran has set it. ---- */

enum { PIECE = 256 };

struct piece {
	struct piece *next;
	MPI_Aint cell[PIECE];
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct piece *pieces;
static MPI_Aint *unused; /* free list: each cell holds the address of the next cell */

void *gompi_attribute_cell(MPI_Aint value) {
	MPI_Aint *cell;
	pthread_mutex_lock(&mu);
	if (!unused) {
		struct piece *p = malloc(sizeof *p);
		if (p) {
			p->next = pieces;
			pieces = p;
			for (int i = 0; i < PIECE; i++)
				p->cell[i] = i + 1 < PIECE ? (MPI_Aint)&p->cell[i + 1] : 0;
			unused = p->cell;
		}
	}
	cell = unused;
	if (cell) {
		unused = (MPI_Aint *)*cell;
		*cell = value;
	}
	pthread_mutex_unlock(&mu);
	return cell;
}

/* Returns true if the address is that of a cell. The caller must hold mu. */
static bool isCellLocked(const void *pointer) {
	for (const struct piece *p = pieces; p; p = p->next) {
		uintptr_t at = (uintptr_t)pointer - (uintptr_t)p->cell;
		if (at < sizeof p->cell)
			return at % sizeof *p->cell == 0;
	}
	return false;
}

static bool is_cell(const void *pointer) {
	bool is;
	pthread_mutex_lock(&mu);
	is = isCellLocked(pointer);
	pthread_mutex_unlock(&mu);
	return is;
}

void gompi_attribute_free(void *pointer) {
	pthread_mutex_lock(&mu);
	if (isCellLocked(pointer)) {
		*(MPI_Aint *)pointer = (MPI_Aint)unused;
		unused = pointer;
	}
	pthread_mutex_unlock(&mu);
}

MPI_Aint gompi_attribute_value(void *pointer) { return is_cell(pointer) ? *(MPI_Aint *)pointer : (MPI_Aint)pointer; }

/* ---- Keyvals ---- */

/* The next macros define the predefined procedures, which a program may also call itself. */
#define NO_COPY(name)                                                                                            \
	ENTRY void name(const integer *object, const integer *keyval, const MPI_Aint *extra, const MPI_Aint *in, \
			MPI_Aint *out, logical *flag, integer *ierror) {                                         \
		(void)object, (void)keyval, (void)extra, (void)in, (void)out;                                    \
		*flag = gompi_f_false;                                                                           \
		done(ierror, MPI_SUCCESS);                                                                       \
	}
#define COPY(name)                                                                                               \
	ENTRY void name(const integer *object, const integer *keyval, const MPI_Aint *extra, const MPI_Aint *in, \
			MPI_Aint *out, logical *flag, integer *ierror) {                                         \
		(void)object, (void)keyval, (void)extra;                                                         \
		*out = *in;                                                                                      \
		*flag = gompi_f_true;                                                                            \
		done(ierror, MPI_SUCCESS);                                                                       \
	}
#define NO_DELETE(name)                                                                                             \
	ENTRY void name(const integer *object, const integer *keyval, const MPI_Aint *value, const MPI_Aint *extra, \
			integer *ierror) {                                                                          \
		(void)object, (void)keyval, (void)value, (void)extra;                                               \
		done(ierror, MPI_SUCCESS);                                                                          \
	}
NO_COPY(mpi_comm_null_copy_fn_)
COPY(mpi_comm_dup_fn_)
NO_DELETE(mpi_comm_null_delete_fn_)
NO_COPY(mpi_type_null_copy_fn_)
COPY(mpi_type_dup_fn_)
NO_DELETE(mpi_type_null_delete_fn_)
NO_COPY(mpi_win_null_copy_fn_)
COPY(mpi_win_dup_fn_)
NO_DELETE(mpi_win_null_delete_fn_)
NO_COPY(mpi_null_copy_fn_)
NO_DELETE(mpi_null_delete_fn_)

ENTRY void mpi_dup_fn_(const integer *comm, const integer *keyval, const integer *extra, const integer *in,
		       integer *out, logical *flag, integer *ierror) {
	(void)comm, (void)keyval, (void)extra;
	*out = *in;
	*flag = gompi_f_true;
	done(ierror, MPI_SUCCESS);
}

struct gompi_keyval *gompi_keyval_new(gompi_procedure *copy, gompi_procedure *delete, MPI_Aint extra, bool old) {
	struct gompi_keyval *k = malloc(sizeof *k);
	if (k)
		*k = (struct gompi_keyval){.copy = copy, .delete = delete, .extra = extra, .old = old};
	return k;
}

static bool duplicates(gompi_procedure *p) {
	return p == (gompi_procedure *)mpi_comm_dup_fn_ || p == (gompi_procedure *)mpi_type_dup_fn_ ||
	       p == (gompi_procedure *)mpi_win_dup_fn_ || p == (gompi_procedure *)mpi_dup_fn_;
}

static int copy(integer object, integer keyval, struct gompi_keyval *k, void *in, void *out, int *flag) {
	MPI_Aint value = gompi_attribute_value(in), result = 0;
	logical f_flag = gompi_f_false;
	integer ierror = MPI_SUCCESS;
	if (duplicates(k->copy) && !is_cell(in)) { /* an attribute that C has set remains a C pointer */
		*(void **)out = in;
		*flag = 1;
		return MPI_SUCCESS;
	}
	if (k->old) {
		integer extra = (integer)k->extra, from = (integer)value, to = 0;
		((void (*)(integer *, integer *, integer *, integer *, integer *, logical *, integer *))k->copy)(
			&object, &keyval, &extra, &from, &to, &f_flag, &ierror);
		result = to;
	} else {
		((void (*)(integer *, integer *, MPI_Aint *, MPI_Aint *, MPI_Aint *, logical *, integer *))k->copy)(
			&object, &keyval, &k->extra, &value, &result, &f_flag, &ierror);
	}
	*flag = logical_in(f_flag);
	if (!ierror && *flag && !(*(void **)out = gompi_attribute_cell(result)))
		return MPI_ERR_NO_MEM;
	return code_in(ierror);
}

static int delete (integer object, integer keyval, struct gompi_keyval *k, void *pointer) {
	MPI_Aint value = gompi_attribute_value(pointer);
	integer ierror = MPI_SUCCESS;
	if (k->old) {
		integer extra = (integer)k->extra, old = (integer)value;
		((void (*)(integer *, integer *, integer *, integer *, integer *))k->delete)(&object, &keyval, &old,
											     &extra, &ierror);
	} else {
		((void (*)(integer *, integer *, MPI_Aint *, MPI_Aint *, integer *))k->delete)(&object, &keyval, &value,
											       &k->extra, &ierror);
	}
	if (!ierror)
		gompi_attribute_free(pointer);
	return code_in(ierror);
}

int gompi_comm_copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag) {
	return copy(comm_out(comm), keyval, state, in, out, flag);
}

int gompi_comm_delete(MPI_Comm comm, int keyval, void *value, void *state) {
	return delete (comm_out(comm), keyval, state, value);
}

int gompi_type_copy(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag) {
	return copy(datatype_out(type), keyval, state, in, out, flag);
}

int gompi_type_delete(MPI_Datatype type, int keyval, void *value, void *state) {
	return delete (datatype_out(type), keyval, state, value);
}

int gompi_win_copy(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag) {
	return copy(win_out(win), keyval, state, in, out, flag);
}

int gompi_win_delete(MPI_Win win, int keyval, void *value, void *state) {
	return delete (win_out(win), keyval, state, value);
}
