// Views of files (MPI-5.0 14.3).
#ifndef GOMPI_FILE_VIEW_H
#define GOMPI_FILE_VIEW_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Makes the default view of a new file: bytes from the beginning on.
void gompi_file_view_default(struct gompi_file_view *view);
// Computes the position in the view's stream, *pos, of etype number `first`. Returns MPI_SUCCESS, or MPI_ERR_ARG in *v
// if an access of `bytes` bytes there would exceed the 63 bits of an offset in a file.
int gompi_file_view_position(const struct gompi_file_view *view, int64_t first, int64_t bytes, int64_t *pos,
			     struct gompi_error_status *v);
// Frees the datatypes of a view.
void gompi_file_view_free(struct gompi_file_view *view);

#pragma GCC visibility pop
#endif
