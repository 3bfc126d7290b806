// The names of objects (MPI-5.0 7.8), stored with their attributes.
#ifndef GOMPI_NAME_H
#define GOMPI_NAME_H

#include "attribute/attribute.h"

#pragma GCC visibility push(hidden)

// Sets the name of an object. Truncates a name that is too long, as a Fortran assignment does. Returns MPI_SUCCESS or
// the error class in *v: MPI_ERR_ARG if `name` is NULL, MPI_ERR_NO_MEM. t is NULL if its allocation failed.
int gompi_name_set(struct gompi_error_status *v, struct gompi_attributes *t, const char *name);

// The name of an object whose name was never set; a string literal.
struct gompi_default_name {
	const char *name;
	int length;
};
#define GOMPI_DEFAULT_NAME(literal) ((struct gompi_default_name){literal, sizeof(literal) - 1})

// Stores the name of an object in `name`, which has MPI_MAX_OBJECT_NAME bytes. Stores `fallback` if the object's name
// was never set. Returns the length. t may be NULL.
int gompi_name_get(struct gompi_attributes *t, struct gompi_default_name fallback, char *name);

#pragma GCC visibility pop
#endif
