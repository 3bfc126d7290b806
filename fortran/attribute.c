/* Attributes (MPI-5.0 7.7, 19.3.7). An attribute is a pointer in C, and an integer of the size of an address in
 * Fortran. If Fortran sets an attribute, C gets the address of a cell that holds the integer (keyval.c). If C sets it,
 * Fortran gets the pointer as an integer. A predefined attribute is a pointer to its value in C; Fortran gets the
 * value. */
#include "attribute.h"

#include "mpix_gompirma.h"

/* Converts an attribute from C's pointer to Fortran's integer. */
static MPI_Aint value_of(int keyval, void *pointer) {
	switch (keyval) {
	case MPI_TAG_UB:
	case MPI_IO:
	case MPI_HOST:
	case MPI_WTIME_IS_GLOBAL:
	case MPI_APPNUM:
	case MPI_LASTUSEDCODE:
	case MPI_UNIVERSE_SIZE:
	case MPI_WIN_DISP_UNIT:
	case MPI_WIN_CREATE_FLAVOR:
	case MPI_WIN_MODEL:
	case MPIX_FT:
		return *(int *)pointer;
	case MPI_WIN_SIZE:
		return *(MPI_Aint *)pointer;
	case MPI_WIN_BASE:
		return (MPI_Aint)pointer;
	}
	return gompi_attribute_value(pointer);
}

/* Returns MPI_SUCCESS if the keyval fits into an int. Otherwise raises MPI_ERR_KEYVAL on the object and returns the
 * error code. */
static inline int keyval_fits(const char *function, integer keyval, enum gompi_object kind, integer object) {
	return wide(keyval)
		       ? gompi_raise_pending(kind, object, gompi_wide_code(function, "keyval", keyval, MPI_ERR_KEYVAL))
		       : MPI_SUCCESS;
}

#define ATTRIBUTES(Type, type, object)                                                                                \
	ENTRY void NAME(type##_get_attr)(const integer *object, const integer *keyval, MPI_Aint *attribute_val,       \
					 logical *flag, integer *ierror) {                                            \
		void *pointer = NULL;                                                                                 \
		int c_flag = 0, rc = keyval_fits("MPI_" #Type "_get_attr", *keyval, RAISE_##type, *object);           \
		if (!rc)                                                                                              \
			rc = CALL(Type##_get_attr)(IN_##type(*object), (int)*keyval, &pointer, &c_flag);              \
		if (!rc) {                                                                                            \
			if (c_flag)                                                                                   \
				*attribute_val = value_of((int)*keyval, pointer);                                     \
			*flag = logical_out(c_flag);                                                                  \
		}                                                                                                     \
		done(ierror, rc);                                                                                     \
	}                                                                                                             \
	SAME(type##_get_attr, type##_get_attr_f08)                                                                    \
                                                                                                                      \
	ENTRY void NAME(type##_set_attr)(const integer *object, const integer *keyval, const MPI_Aint *attribute_val, \
					 integer *ierror) {                                                           \
		void *cell;                                                                                           \
		int rc = keyval_fits("MPI_" #Type "_set_attr", *keyval, RAISE_##type, *object);                       \
		if (rc) {                                                                                             \
			done(ierror, rc);                                                                             \
			return;                                                                                       \
		}                                                                                                     \
		cell = gompi_attribute_cell(*attribute_val);                                                          \
		rc = cell ? CALL(Type##_set_attr)(IN_##type(*object), (int)*keyval, cell)                             \
			  : gompi_raise_pending(RAISE_##type, *object, MPI_ERR_NO_MEM);                               \
		if (rc)                                                                                               \
			gompi_attribute_free(cell);                                                                   \
		done(ierror, rc);                                                                                     \
	}                                                                                                             \
	SAME(type##_set_attr, type##_set_attr_f08)                                                                    \
                                                                                                                      \
	ENTRY void NAME(type##_create_keyval)(gompi_procedure * copy_fn, gompi_procedure * delete_fn,                 \
					      integer * keyval, const MPI_Aint *extra_state, integer *ierror) {       \
		struct gompi_keyval *k = gompi_keyval_new(copy_fn, delete_fn, *extra_state, false);                   \
		int c_keyval = MPI_KEYVAL_INVALID;                                                                    \
		int rc = k ? CALL(Type##_create_keyval)(gompi_##type##_copy, gompi_##type##_delete,                   \
							int_to(keyval, &c_keyval), k)                                 \
			   : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);                                      \
		if (!rc)                                                                                              \
			int_out(keyval, c_keyval);                                                                    \
		else                                                                                                  \
			free(k);                                                                                      \
		done(ierror, rc);                                                                                     \
	}                                                                                                             \
	SAME(type##_create_keyval, type##_create_keyval_f08)

#define IN_comm comm_in
#define IN_type datatype_in
#define IN_win win_in
#define RAISE_comm RAISE_COMM
#define RAISE_type RAISE_SELF
#define RAISE_win RAISE_WIN
ATTRIBUTES(Comm, comm, comm)
ATTRIBUTES(Type, type, datatype)
ATTRIBUTES(Win, win, win)

/* ---- The deprecated functions, with attributes of default size (MPI-5.0 16.1). ---- */

ENTRY void NAME(attr_get)(const integer *comm, const integer *keyval, integer *attribute_val, logical *flag,
			  integer *ierror) {
	void *pointer = NULL;
	int c_flag = 0, rc = keyval_fits("MPI_Attr_get", *keyval, RAISE_COMM, *comm);
	if (!rc)
		rc = CALL(Attr_get)(comm_in(*comm), (int)*keyval, &pointer, &c_flag);
	if (!rc) {
		if (c_flag)
			*attribute_val = (integer)value_of((int)*keyval, pointer);
		*flag = logical_out(c_flag);
	}
	done(ierror, rc);
}

/* Sets an attribute of default size. All supported machines are little-endian, so C may read the cell as an INTEGER or
 * as an address-sized integer. */
ENTRY void NAME(attr_put)(const integer *comm, const integer *keyval, const integer *attribute_val, integer *ierror) {
	void *cell;
	int rc = keyval_fits("MPI_Attr_put", *keyval, RAISE_COMM, *comm);
	if (rc) {
		done(ierror, rc);
		return;
	}
	cell = gompi_attribute_cell(*attribute_val);
	rc = cell ? CALL(Attr_put)(comm_in(*comm), (int)*keyval, cell)
		  : gompi_raise_pending(RAISE_COMM, *comm, MPI_ERR_NO_MEM);
	if (rc)
		gompi_attribute_free(cell);
	done(ierror, rc);
}

ENTRY void NAME(keyval_create)(gompi_procedure *copy_fn, gompi_procedure *delete_fn, integer *keyval,
			       const integer *extra_state, integer *ierror) {
	struct gompi_keyval *k = gompi_keyval_new(copy_fn, delete_fn, *extra_state, true);
	int c_keyval = MPI_KEYVAL_INVALID;
	int rc = k ? CALL(Keyval_create)(gompi_comm_copy, gompi_comm_delete, int_to(keyval, &c_keyval), k)
		   : gompi_raise_pending(RAISE_SELF, 0, MPI_ERR_NO_MEM);
	if (!rc)
		int_out(keyval, c_keyval);
	else
		free(k);
	done(ierror, rc);
}
