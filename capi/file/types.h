// Copies of datatypes that a file holds, or an access in progress.
#ifndef GOMPI_FILE_TYPES_H
#define GOMPI_FILE_TYPES_H

#include "base/error_status.h"

#pragma GCC visibility push(hidden)

// Creates a datatype equal to a committed one, without its attributes. The copy stays valid after the application has
// freed the original. A predefined type is its own copy. gompi_file_type_free frees the copy. Returns MPI_SUCCESS or
// the error class in *v.
int gompi_file_type_copy(MPI_Datatype type, MPI_Datatype *copy, struct gompi_error_status *v);
// Frees a copy. Does nothing for a predefined type, 0 or MPI_DATATYPE_NULL.
void gompi_file_type_free(MPI_Datatype *type);

#pragma GCC visibility pop
#endif
