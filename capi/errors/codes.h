// Error classes, codes and their texts (MPI-5.0 9.4 and 9.5). The error codes that the library returns are the
// predefined classes themselves; what an application adds has numbers above MPI_ERR_LASTCODE.
#ifndef GOMPI_CODES_H
#define GOMPI_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// What the attribute MPI_LASTUSEDCODE points to.
extern int gompi_last_used_code;

// Returns the name of a predefined error class; NULL: it is none.
const char *gompi_error_class_name(int class);

// Returns the error class that another process has sent, or MPI_ERR_INTERN if that is no predefined one.
int gompi_error_class_of_peer(uint64_t class);

// Returns the class of a code; -1: it is none.
int gompi_error_class_of(int code);

// Keeps text as what the latest error of its class was about, for MPI_Error_string: only of MPI's classes, since
// applications have any number of codes.
void gompi_error_remember(int class, const char *text);

// The same for an error that the application has raised on an object itself (MPI_Comm_call_errhandler, and of windows):
// gompi_up.called_text makes the text when it is asked for.
void gompi_error_called(int class, int kind, uintptr_t object);

// Stores the text of an error code, of less than MPI_MAX_ERROR_STRING bytes: of a class its name and meaning, and what
// the latest error of it in this process was about; nothing for an added code without a string. Returns its length;
// -1: it is no error code.
int gompi_error_text(int code, char *text);

#pragma GCC visibility pop
#endif
