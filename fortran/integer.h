/* INTEGERs and LOGICALs of default size, and how they become C's ints.
 *
 * The bindings are compiled for INTEGERs of 4 bytes, and with GOMPI_F_INTEGER_8 for those of 8 that options like
 * -fdefault-integer-8 make. Where an INTEGER is an int nothing here costs anything: each function below is one that the
 * compiler sees through. Where it is not, counts and displacements that an int does not hold go to the large-count form
 * of the function, and any other argument that an int does not hold is an error of that argument.
 */
#ifndef GOMPI_INTEGER_H
#define GOMPI_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

#define GOMPIRMA_NO_INLINE /* tools see what Fortran programs call */
#include "mpi_rma.h"

#ifdef GOMPI_F_INTEGER_8
typedef int64_t integer, logical;
typedef uint64_t uinteger;
#else
typedef int integer, logical;
typedef unsigned uinteger;
#endif

enum { EIGHT = sizeof(integer) == 8 };

/* A status of Fortran. */
typedef struct {
	integer word[MPI_F_STATUS_SIZE];
} f_status;

/* wide tells that no int has the value. */
static inline bool wide(MPI_Count value) { return EIGHT && value != (int)value; }

static inline bool any_wide(MPI_Count n, const integer *values) {
	for (MPI_Count i = 0; EIGHT && i < n; i++)
		if (wide(values[i]))
			return true;
	return false;
}

/* gompi_wide_code returns an error code of the class, whose text names the function, the argument and its value. */
int gompi_wide_code(const char *function, const char *argument, MPI_Count value, int class);

/* fits gives MPI_SUCCESS if an int has the value of an argument, else such a code. */
static inline int fits(const char *function, const char *argument, MPI_Count value, int class) {
	return wide(value) ? gompi_wide_code(function, argument, value, class) : MPI_SUCCESS;
}

static inline int all_fit(const char *function, const char *argument, MPI_Count n, const integer *values, int class) {
	int rc = MPI_SUCCESS;
	for (MPI_Count i = 0; EIGHT && i < n && !rc; i++)
		rc = fits(function, argument, values[i], class);
	return rc;
}

/* int_to returns where C writes a result: own, or the program's variable if it is an int. int_out brings it there. */
static inline int *int_to(integer *to, int *own) { return EIGHT ? own : (int *)to; }
static inline void int_out(integer *to, int own) {
	if (EIGHT)
		*to = own;
}

#endif
