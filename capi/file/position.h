// The shared file pointer.
#ifndef GOMPI_FILE_POSITION_H
#define GOMPI_FILE_POSITION_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// All return MPI_SUCCESS or the error class in v. Values are in etypes.

// Adds to the shared file pointer, and stores its former value in *was.
int gompi_file_shared_fetch_add(struct gompi_file *f, int64_t etypes, int64_t *was, struct gompi_error_status *v);
int gompi_file_shared_get(struct gompi_file *f, int64_t *value, struct gompi_error_status *v);
int gompi_file_shared_set(struct gompi_file *f, int64_t value, struct gompi_error_status *v);
// Reserves the places of an ordered access: *first is that of this process. Collective.
int gompi_file_shared_ordered(struct gompi_file *f, int64_t etypes, int64_t *first, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
