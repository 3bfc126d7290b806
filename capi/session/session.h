// Sessions (MPI-5.0 11.3). A communicator, window, file or group that is derived from a session has the session's
// handle in its list of processes (struct gompi_ranks).
#ifndef GOMPI_SESSION_H
#define GOMPI_SESSION_H

#include "base/abi.h"
#include "base/object_pool.h"
#include "errors/handler.h"

struct gompi_bsend_buffer;

struct gompi_session {
	struct gompi_session *next; // next in the free list
	struct gompi_errhandler_ref errhandler;
	struct gompi_bsend_buffer *_Atomic bsend_buffer; // attached buffer (message/bsend_buffer.h); NULL if none was
							 // ever attached
	char *alloc_kinds; // requested memory allocation kinds, from malloc; NULL if none were requested
};

#pragma GCC visibility push(hidden)

extern struct gompi_object_pool gompi_sessions;

// Returns the session with this handle; NULL if the handle is MPI_SESSION_NULL or invalid.
static inline struct gompi_session *gompi_session_get(MPI_Session session) {
	return gompi_table_get(&gompi_sessions.handles.table, (uintptr_t)session);
}

// Returns the memory allocation kinds that were requested for a session, or NULL if none were. The argument is the
// `session` of a struct gompi_ranks, 0 for no session.
static inline const char *gompi_session_kinds(int32_t session) {
	if (session == 0)
		return NULL;
	const struct gompi_session *s = gompi_session_get((MPI_Session)(uintptr_t)(uint32_t)session);
	return s == NULL ? NULL : s->alloc_kinds;
}

// Creates a session with the memory allocation kinds of an info object, and returns its handle. Takes over the caller's
// reference to the error handler. Returns 0 if that fails, and describes the error in *v: MPI_ERR_NO_MEM, or
// MPI_ERR_INFO if `info` is not an info object.
uintptr_t gompi_session_create(MPI_Info info, uintptr_t errhandler, struct gompi_error_status *v);
// Frees a session. The handle becomes invalid.
void gompi_session_destroy(uintptr_t session);

// Raises MPI_ERR_SESSION for a handle that is not a session. Returns the value that the call must return.
__attribute__((cold)) int gompi_raise_invalid_session(MPI_Session session, const char *call);

#pragma GCC visibility pop
#endif
