// Raising errors: the one place where a call that was refused meets the error handlers (MPI-5.0 9.3).
#ifndef GOMPI_ERROR_H
#define GOMPI_ERROR_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Raises an error of a class on an object (kind is one of GOMPI_ON_) and returns what the function called call shall
// return: the class, or what a handler of the application's has made of it.
int gompi_raise_error(int class, const char *call, const char *text, int kind, uintptr_t object);

// Stores what an error that the application has raised on an object was about (base/up.h).
int gompi_called_text(int class, int kind, uintptr_t object, char *text);

// Raises MPI_ERR_UNSUPPORTED_OPERATION for the function called name in the same way.
int gompi_unsupported(const char *name, int kind, uintptr_t object);

// The same for Go, but for a handler of the application's, which may leave by longjmp and must not run above a Go
// frame: then it returns a negative number, with which the entry point that has called Go calls gompi_raise.
int gompi_raise_in_go(int class, const char *call, const char *text, int kind, uintptr_t object);

// Runs the error handler of the application that gompi_raise_in_go has found, and returns the error code.
int gompi_raise(int token);

#pragma GCC visibility pop
#endif
