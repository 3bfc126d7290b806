// Names of datatypes, operations and addresses for error texts, and the errors of invalid datatypes and buffers.
#ifndef GOMPI_LABEL_H
#define GOMPI_LABEL_H

#include "base/error_status.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_LABEL = MPI_MAX_OBJECT_NAME + 32 };

// Writes the name of a datatype to `text` and returns `text`. For a predefined type (MPI_INT) and MPI_DATATYPE_NULL,
// the text is this name. For another type, it is the name that the application has set and the handle, or only the
// handle.
__attribute__((cold)) const char *gompi_type_label(MPI_Datatype datatype, char text[GOMPI_LABEL]);

// Writes the name of a predefined operation (MPI_SUM) or of MPI_OP_NULL to `text`, or the handle of another operation.
// Returns `text`.
__attribute__((cold)) const char *gompi_op_label(MPI_Op op, char text[GOMPI_LABEL]);

// Writes an address to `text`: the word NULL, or the address in hexadecimal. Returns `text`.
__attribute__((cold)) const char *gompi_address_label(const void *address, char text[20]);

// Fills in the error status for a handle that is not the handle of a committed datatype. The error text begins with the
// string `what`, such as "the origin datatype". Returns MPI_ERR_TYPE.
__attribute__((cold)) int gompi_type_unusable(struct gompi_error_status *v, const char *what, MPI_Datatype datatype);

// Fills in the error status for a buffer whose data (`bytes` bytes from offset lo) begins in the first page. The text
// begins with the string `what`, such as "the origin buffer". Returns MPI_ERR_BUFFER.
__attribute__((cold)) int gompi_bad_buffer(struct gompi_error_status *v, const char *what, const void *at,
					   int64_t bytes, int64_t lo);

#pragma GCC visibility pop
#endif
