/* Functions for tests of performance variables. */
#ifndef PVARS_H
#define PVARS_H

#include "check.h"

typedef unsigned long long number;

/* Returns the index of a variable. */
static inline int index_of(const char *name, int class) {
	int i = -1;
	CHECK(MPI_T_pvar_get_index(name, class, &i) == MPI_SUCCESS, "no variable %s of class %d", name, class);
	return i;
}

/* Creates a handle for a variable that is bound to *object, or to no object. */
static inline MPI_T_pvar_handle handle_of(MPI_T_pvar_session s, const char *name, int class, void *object) {
	MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
	int count = 0;
	CHECK(MPI_T_pvar_handle_alloc(s, index_of(name, class), object, &h, &count) == MPI_SUCCESS && count == 1,
	      "a handle for %s", name);
	return h;
}

/* Returns the value of a handle. */
static inline number value_of(MPI_T_pvar_session s, MPI_T_pvar_handle h) {
	number value = 12345678;
	CHECK(MPI_T_pvar_read(s, h, &value) == MPI_SUCCESS, "reading a variable");
	return value;
}

#endif
