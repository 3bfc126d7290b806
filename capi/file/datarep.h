// Data representations (MPI-5.0 14.5): native, internal, external32, and those of MPI_Register_datarep. In native and
// internal, data has the same form in the file as in memory.
#ifndef GOMPI_FILE_DATAREP_H
#define GOMPI_FILE_DATAREP_H

#include "file/access.h"

#pragma GCC visibility push(hidden)

// Returns the data representation with this name. The result is NULL for an unknown name, and also for native and
// internal, with which memory and file have the same form. Sets *is_native to true for these two names, else to false.
const struct gompi_datarep *gompi_datarep_find(const char *name, bool *is_native);
// Makes a committed type that describes data of a type of the application in the file. The caller frees it. Returns
// MPI_SUCCESS or the error class in v.
int gompi_datarep_file_type(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Datatype *in_file,
			    struct gompi_error_status *v);
// Stores in *bytes the number of bytes that count copies of a type have in the file. Returns MPI_SUCCESS or the error
// class in v.
int gompi_datarep_file_bytes(const struct gompi_file *f, MPI_Datatype datatype, int64_t count, int64_t *bytes,
			     struct gompi_error_status *v);
// Transfers the data of d as gompi_file_transfer does, and converts it before a write or after a read. *done is the
// number of bytes of the buffer that have been transferred.
int gompi_datarep_transfer(struct gompi_file_transfer_desc *d, int64_t *done, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
