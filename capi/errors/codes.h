// Error classes, codes and their texts (MPI-5.0 9.4 and 9.5). The library returns the predefined classes themselves as
// error codes. Classes and codes that the application adds have numbers above MPI_ERR_LASTCODE.
#ifndef GOMPI_CODES_H
#define GOMPI_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// The value of the attribute MPI_LASTUSEDCODE: the largest error class or code that has been in use so far.
extern int gompi_last_used_code;

// Returns the name of a predefined error class, or NULL if the class is not predefined.
const char *gompi_error_class_name(int class);

// Returns the error class that another process has sent; MPI_ERR_INTERN if it is not a predefined class.
int gompi_error_class_of_peer(uint64_t class);

// Returns the class of an error code, or -1 if there is no such code.
int gompi_error_class_of(int code);

// Stores the text of the latest error of a class, for MPI_Error_string. Does nothing for added codes, because their
// number is unlimited.
void gompi_error_store_text(int class, const char *text);

// Records that the application raised the latest error of a class itself, on an object (MPI_Comm_call_errhandler,
// MPI_Win_call_errhandler). gompi_go_callbacks.called_error_text composes the text when it is needed.
void gompi_error_note_called(int class, int kind, uintptr_t object);

// Stores the text of an error code in `text`, which has MPI_MAX_ERROR_STRING bytes. The text of a class is its name,
// its meaning and the text of its latest error in this process. The text of an added code is the string that the
// application has set, or empty. Returns the length, or -1 if there is no such code.
int gompi_error_text(int code, char *text);

#pragma GCC visibility pop
#endif
