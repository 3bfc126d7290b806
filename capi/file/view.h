// Views of files (MPI-5.0 14.3).
#ifndef GOMPI_FILE_VIEW_H
#define GOMPI_FILE_VIEW_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Makes the default view of a new file: bytes from the beginning on.
void gompi_file_view_default(struct gompi_file_view *view);
// Frees what a view holds.
void gompi_file_view_free(struct gompi_file_view *view);

// Returns the representation of this name, NULL if there is none. *is_native: memory and file have the same form.
const struct gompi_datarep *gompi_datarep_find(const char *name, bool *is_native);
// Makes the type that describes a type of the application in the file. Returns MPI_SUCCESS or the error class in v.
int gompi_datarep_file_type(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Datatype *in_file,
			    struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
