// Error handlers (MPI-5.0 9.3). One of the application's lives while it has the handle or an object uses it. Objects
// keep a handle in a word of theirs.
#ifndef GOMPI_HANDLER_H
#define GOMPI_HANDLER_H

#include "base/objects.h"
#include "base/verdict.h"

#pragma GCC visibility push(hidden)

static inline bool gompi_errhandler_predefined(uintptr_t h) {
	return h == (uintptr_t)MPI_ERRORS_ARE_FATAL || h == (uintptr_t)MPI_ERRORS_RETURN ||
	       h == (uintptr_t)MPI_ERRORS_ABORT;
}

// Attaches a handler to an object of a kind (GOMPI_ON_), whose word is at; the old one loses a reference. The verdict's
// class: MPI_ERR_ERRHANDLER, it is none, or for another kind.
int gompi_errhandler_attach_other(struct gompi_verdict *v, int kind, _Atomic uintptr_t *at, MPI_Errhandler h);
static inline int gompi_errhandler_attach(struct gompi_verdict *v, int kind, _Atomic uintptr_t *at, MPI_Errhandler h) {
	return gompi_load(at) == (uintptr_t)h ? MPI_SUCCESS : gompi_errhandler_attach_other(v, kind, at, h);
}
// Returns the handler at a word, with one reference more.
uintptr_t gompi_errhandler_of(_Atomic uintptr_t *at);
// One reference less; of 0 nothing.
void gompi_errhandler_release(uintptr_t h);
// The object of a word has gone.
void gompi_errhandler_leave(_Atomic uintptr_t *at);
// Returns the function of a handler of the application's, or 0.
uintptr_t gompi_errhandler_function(uintptr_t h);

#pragma GCC visibility pop
#endif
