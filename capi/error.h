// Raising errors: the one place where a call that was refused meets the error handlers.
#ifndef GOMPI_ERROR_H
#define GOMPI_ERROR_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Raises an error of a class on an object (kind is one of GOMPI_ON_) and returns what the function called call shall
// return: the class, or what a handler of the application's has made of it.
int gompi_raise_error(int class, const char *call, const char *text, int kind, uintptr_t object);

// Raises MPI_ERR_UNSUPPORTED_OPERATION for the function called name in the same way.
int gompi_unsupported(const char *name, int kind, uintptr_t object);

// Runs the error handler of the application that an implementation in Go returned as the negative token, and returns
// the error code.
int gompi_raise(int token);

#pragma GCC visibility pop
#endif
