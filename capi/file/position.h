// The shared file pointer.
#ifndef GOMPI_FILE_POSITION_H
#define GOMPI_FILE_POSITION_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// All functions return MPI_SUCCESS or the error class in v. The values of the pointer are in etypes.

// Adds to the shared file pointer, and stores its former value in *was.
int gompi_file_shared_fetch_add(struct gompi_file *f, int64_t etypes, int64_t *was, struct gompi_error_status *v);
int gompi_file_shared_get(struct gompi_file *f, int64_t *value, struct gompi_error_status *v);
int gompi_file_shared_set(struct gompi_file *f, int64_t value, struct gompi_error_status *v);
// Advances the shared file pointer for an access in rank order, such as MPI_File_read_ordered. Stores in *first the
// etype at which the access of this process begins. Collective.
int gompi_file_shared_ordered(struct gompi_file *f, int64_t etypes, int64_t *first, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
