// The names of objects (MPI-5.0 7.8), which are kept with their attributes.
#ifndef GOMPI_NAME_H
#define GOMPI_NAME_H

#include "attribute/attribute.h"

#pragma GCC visibility push(hidden)

// Gives an object a name; what is too long is cut, as in a Fortran assignment. The verdict's class: MPI_ERR_ARG, there
// is none; MPI_ERR_NO_MEM. t may be NULL for lack of memory.
int gompi_name_set(struct gompi_verdict *v, struct gompi_attributes *t, const char *name);

// What an object is called that was never given a name: a literal.
struct gompi_unnamed {
	const char *name;
	int length;
};
#define GOMPI_UNNAMED(literal) ((struct gompi_unnamed){literal, sizeof(literal) - 1})

// Stores the name that an object was given, of less than MPI_MAX_OBJECT_NAME bytes, or another one if it never was.
// Returns its length. t may be NULL.
int gompi_name_get(struct gompi_attributes *t, struct gompi_unnamed otherwise, char *name);

#pragma GCC visibility pop
#endif
