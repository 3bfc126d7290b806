// Error handlers (MPI-5.0 9.3). A user-defined handler exists while the application has its handle or an object uses
// the handler.
#ifndef GOMPI_HANDLER_H
#define GOMPI_HANDLER_H

#include "base/object_pool.h"
#include "base/error_status.h"

#pragma GCC visibility push(hidden)

static inline bool gompi_errhandler_predefined(uintptr_t h) {
	return h == (uintptr_t)MPI_ERRORS_ARE_FATAL || h == (uintptr_t)MPI_ERRORS_RETURN ||
	       h == (uintptr_t)MPI_ERRORS_ABORT;
}

// The error handler of an object.
struct gompi_errhandler_ref {
	_Atomic uintptr_t handle; // handle of the error handler
	// The application's function, or the handle of a predefined handler. An error can be raised with this value
	// alone, without access to the handler object.
	_Atomic uintptr_t function;
};

// Sets the error handler of a new object to h. The object takes over the caller's reference to h.
void gompi_errhandler_init(struct gompi_errhandler_ref *r, uintptr_t h);
// Attaches a handler to an object of this kind (GOMPI_ON_) and releases the old handler. Returns MPI_SUCCESS or the
// error class in *v: MPI_ERR_ERRHANDLER if h is not an error handler, or is for another kind of object.
int gompi_errhandler_attach_slow(struct gompi_error_status *v, int kind, struct gompi_errhandler_ref *r,
				 MPI_Errhandler h);
static inline int gompi_errhandler_attach(struct gompi_error_status *v, int kind, struct gompi_errhandler_ref *r,
					  MPI_Errhandler h) {
	return gompi_load(&r->handle) == (uintptr_t)h ? MPI_SUCCESS : gompi_errhandler_attach_slow(v, kind, r, h);
}
// Returns the handler of an object. Acquires a reference.
uintptr_t gompi_errhandler_acquire(struct gompi_errhandler_ref *r);
// Returns MPI_SUCCESS if h is an error handler for objects of this kind (GOMPI_ON_), else MPI_ERR_ERRHANDLER, described
// in *v.
int gompi_errhandler_check(struct gompi_error_status *v, int kind, MPI_Errhandler h);
// Acquires a reference to a handler, and returns its handle.
uintptr_t gompi_errhandler_retain(uintptr_t h);
// Returns the value of the field `function` for objects that use the handler h. Stores in *kind the kind of these
// objects; 0 for a predefined handler.
uintptr_t gompi_errhandler_function(uintptr_t h, int *kind);
// Releases a reference. Does nothing for 0.
void gompi_errhandler_release(uintptr_t h);
// Releases the handler of an object that is being freed.
void gompi_errhandler_detach(struct gompi_errhandler_ref *r);

// Runs an error handler function of the application with an object and an error code. Returns the code that the
// function stored. Must be called without Go frames on the stack, because the function may call MPI or leave by
// longjmp.
int gompi_errhandler_run(uintptr_t function, uintptr_t object, int code);

// Implements MPI_Comm_call_errhandler and related calls: calls the error handler of an object with a code of the
// application. Returns MPI_SUCCESS if the handler returns; a predefined fatal handler ends the job. Accepts positive
// codes that MPI does not know, because programs pass private codes to their own handlers. For a negative code, raises
// MPI_ERR_ARG and returns the result.
int gompi_errhandler_call(const struct gompi_errhandler_ref *r, const char *call, int code, int kind, uintptr_t object);

#pragma GCC visibility pop
#endif
