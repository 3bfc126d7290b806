// Error handlers (MPI-5.0 9.3). One of the application's lives while it has the handle or an object uses it.
#ifndef GOMPI_HANDLER_H
#define GOMPI_HANDLER_H

#include "base/objects.h"
#include "base/verdict.h"

#pragma GCC visibility push(hidden)

static inline bool gompi_errhandler_predefined(uintptr_t h) {
	return h == (uintptr_t)MPI_ERRORS_ARE_FATAL || h == (uintptr_t)MPI_ERRORS_RETURN ||
	       h == (uintptr_t)MPI_ERRORS_ABORT;
}

// What an object raises its errors with.
struct gompi_raises {
	_Atomic uintptr_t handle;   // of the error handler
	_Atomic uintptr_t function; // the application's, which alone says what is called; or that of a predefined one
};

// An object begins with a handler, whose reference becomes its own.
void gompi_errhandler_begin(struct gompi_raises *r, uintptr_t h);
// Attaches a handler to an object of a kind (GOMPI_ON_); the old one loses a reference. The verdict's class:
// MPI_ERR_ERRHANDLER, it is none, or for another kind.
int gompi_errhandler_attach_other(struct gompi_verdict *v, int kind, struct gompi_raises *r, MPI_Errhandler h);
static inline int gompi_errhandler_attach(struct gompi_verdict *v, int kind, struct gompi_raises *r, MPI_Errhandler h) {
	return gompi_load(&r->handle) == (uintptr_t)h ? MPI_SUCCESS : gompi_errhandler_attach_other(v, kind, r, h);
}
// Returns the handler of an object, with one reference more.
uintptr_t gompi_errhandler_of(struct gompi_raises *r);
// One reference less; of 0 nothing.
void gompi_errhandler_release(uintptr_t h);
// The object has gone.
void gompi_errhandler_leave(struct gompi_raises *r);

#pragma GCC visibility pop
#endif
