/* INTEGERs and LOGICALs of default size, and their conversion to C's ints.
 *
 * The bindings are compiled for INTEGERs of 4 bytes and, with GOMPI_F_INTEGER_8, for INTEGERs of 8 bytes, which
 * options like -fdefault-integer-8 select. If an INTEGER is an int, the compiler removes the checks below. Otherwise a
 * value may not fit into an int. For a count or displacement, the binding then calls the large-count form of the
 * function. For any other argument, this is an error. */
#ifndef GOMPI_INTEGER_H
#define GOMPI_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

#define GOMPIRMA_NO_INLINE /* profiling tools must see the calls of Fortran programs */
#include "mpi_rma.h"

#ifdef GOMPI_F_INTEGER_8
typedef int64_t integer, logical;
typedef uint64_t uinteger;
#else
typedef int integer, logical;
typedef unsigned uinteger;
#endif

enum { EIGHT = sizeof(integer) == 8 };

/* A status in Fortran's form. */
typedef struct {
	integer word[MPI_F_STATUS_SIZE];
} f_status;

/* Returns true if the value does not fit into an int. */
static inline bool wide(MPI_Count value) { return EIGHT && value != (int)value; }

static inline bool any_wide(MPI_Count n, const integer *values) {
	for (MPI_Count i = 0; EIGHT && i < n; i++)
		if (wide(values[i]))
			return true;
	return false;
}

/* Returns an error code of the class. The error string names the function, the argument and the value. */
int gompi_wide_code(const char *function, const char *argument, MPI_Count value, int class);

/* Returns MPI_SUCCESS if the value of an argument fits into an int, else an error code of gompi_wide_code. */
static inline int fits(const char *function, const char *argument, MPI_Count value, int class) {
	return wide(value) ? gompi_wide_code(function, argument, value, class) : MPI_SUCCESS;
}

static inline int all_fit(const char *function, const char *argument, MPI_Count n, const integer *values, int class) {
	int rc = MPI_SUCCESS;
	for (MPI_Count i = 0; EIGHT && i < n && !rc; i++)
		rc = fits(function, argument, values[i], class);
	return rc;
}

/* Returns the address where C writes a result: the program's variable if it is an int, else `own`. int_out then copies
 * `own` to the program's variable. */
static inline int *int_to(integer *to, int *own) { return EIGHT ? own : (int *)to; }
static inline void int_out(integer *to, int own) {
	if (EIGHT)
		*to = own;
}

#endif
