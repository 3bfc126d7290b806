// Views of files (MPI-5.0 14.3).
#ifndef GOMPI_FILE_VIEW_H
#define GOMPI_FILE_VIEW_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Makes the default view of a new file: bytes from the beginning on.
void gompi_file_view_default(struct gompi_file_view *view);
// Frees what a view holds.
void gompi_file_view_free(struct gompi_file_view *view);

#pragma GCC visibility pop
#endif
