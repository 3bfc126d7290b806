// Raises errors (MPI-5.0 9.3). Only raise.c calls the error handlers of failed MPI calls.
#ifndef GOMPI_RAISE_H
#define GOMPI_RAISE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Raises an error of the given class on an object: `object` is its handle, and `kind` is one of the constants
// GOMPI_ON_. If `text` is NULL, `class` is an error code that the application raised. Returns the value that the MPI
// function with the name `call` must return: the class, or the code that the application's error handler stored.
// gompi:callback
int gompi_raise_error(int class, const char *call, const char *text, int kind, uintptr_t object);

// Stores the text for an error that the application raised on an object with MPI_Comm_call_errhandler or
// MPI_Win_call_errhandler. The text has less than MPI_MAX_ERROR_STRING bytes. The object may no longer exist. Returns
// the length of the text.
// gompi:callback
int gompi_called_error_text(int class, int kind, uintptr_t object, char *text);

// Raises MPI_ERR_UNSUPPORTED_OPERATION for the MPI function `name`. Returns the value that the MPI function must
// return.
int gompi_unsupported(const char *name, int kind, uintptr_t object);

// Raises an error on behalf of Go code, with the arguments of gompi_raise_error. An error handler of the application
// may leave by longjmp, so it must not run above a Go frame. If a handler has to run, returns a negative token. The C
// entry point that called Go passes this token to gompi_raise_pending. Otherwise returns the error code.
int gompi_raise_from_go(int class, const char *call, const char *text, int kind, uintptr_t object);

// Runs the error handler that gompi_raise_from_go found on this thread. Returns the error code. Must be called without
// Go frames below.
int gompi_raise_pending(int token);

#pragma GCC visibility pop
#endif
