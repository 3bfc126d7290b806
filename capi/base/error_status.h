// Error reporting: the result of a check, and the single path from there to the error handlers.
#ifndef GOMPI_ERROR_STATUS_H
#define GOMPI_ERROR_STATUS_H

#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// The result of a failed check: an error class, and a text with the values. A check raises no error: the MPI function
// that requested the check raises the error as its last act. The function continues or ends by the result of the check,
// never by the value that an error handler returned: that value may be MPI_SUCCESS.
struct gompi_error_status {
	int class;
	char text[400];
};

// Returns a text for MPI_ERR_PROC_ABORTED that names the failed process. The text is thread-local. It is valid
// until this thread calls the function again.
__attribute__((cold)) const char *gompi_failure_text(void);

// The kind of the object on which an error is raised. core/gen generates core/handle.Kind from these constants and
// GOMPI_KIND_ (object_pool.h).
enum {
	GOMPI_ON_NONE = 0,
	GOMPI_ON_COMM = 2,
	GOMPI_ON_WIN = 4,
	GOMPI_ON_FILE = 5,
	GOMPI_ON_SESSION = 6,
	GOMPI_ON_ERRHANDLER =
		9, // an error handler: the call that creates an object has failed, so there is no object yet
};

// Fills in an error status and returns its class.
__attribute__((cold, format(printf, 3, 4))) int gompi_set_error(struct gompi_error_status *v, int class,
								const char *text, ...);

// Raises an error of the given class on `object`, whose `kind` is one of GOMPI_ON_. The `text` describes the error. If
// it is NULL, `class` is an error code that the application raised. Returns the value that the MPI function `name` must
// return. The function may call Go and an error handler of the application, so it is not for the fast path. It must be
// the last act of an MPI function: see gompi_error_status.
__attribute__((cold)) int gompi_return_error(int class, const char *name, const char *text, int kind, uintptr_t object);

// The class in the status of the request for which this thread raises MPI_ERR_IN_STATUS; else MPI_SUCCESS. An error
// handler of the application receives this class instead (MPI-5.0 9.3.1).
extern _Thread_local int gompi_class_in_status;

// Calls gompi_return_error with MPI_ERR_ARG, for a call with an argument that is NULL although it must be an address.
// `argument` names this argument, or several arguments of which at least one is NULL.
__attribute__((cold)) int gompi_null_argument_error(const char *name, const char *argument, int kind, uintptr_t object);

#pragma GCC visibility pop
#endif
