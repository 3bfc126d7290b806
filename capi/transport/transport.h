// A transport carries an operation to a target whose memory is not mapped in this process. The calls (rma/) check an
// operation and pass it to the transport of its target (gompi_transport_to). There are two transports: node.c for
// targets on this node, and fabric.c for targets on other nodes. The code in rma/ distinguishes them only for locks,
// posts and short puts, which have separate code for targets on other nodes.
#ifndef GOMPI_TRANSPORT_H
#define GOMPI_TRANSPORT_H

#include "datatype/buffer.h"
#include "win/operation.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// A transport. Functions that can fail return 0 or an error class: MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM, or an error
// that the target has reported. Functions that block make progress while they wait. The argument `at` is the target's
// buffer (offset, count, type). The caller has checked that this buffer is inside the window and that at->type is not
// NULL.
struct gompi_transport {
	const char *name;
	// Moves the data of the put or get o between the buffer `local` and the target. On return, a put has been sent,
	// a get has completed, and the caller may reuse `local`. Exception: if `local` is the application's own buffer,
	// the operation may still use this buffer until flush_local returns or, if o has a request, until the request
	// completes.
	int (*move)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at, char *local,
		    int64_t bytes);
	// Performs the accumulate operation o. The arguments `origin` and `result` are arrays of elements of a
	// predefined type, or NULL. On return, o has been sent, the caller may reuse `origin`, and the result has been
	// stored. Exception, as in `move`: if `result` is the application's own buffer, it may be written later.
	int (*update)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at,
		      MPI_Datatype element, const char *origin, char *result);
	// Waits until all operations that this process has sent to `target`, or to all targets of this transport
	// (GOMPI_ALL), have completed at the target. The argument `call` names the MPI function in errors.
	int (*flush)(struct gompi_win *w, int target, const char *call);
	// Waits until no operation to `target`, or to any target of this transport (GOMPI_ALL), uses a buffer of this
	// process.
	int (*flush_local)(struct gompi_win *w, int target, const char *call);
	// Between nodes only. Flushes all targets before a synchronization of the node leaders in which this process
	// exchanges records with the process `peer`. For operations to `peer`, waits only for results. The process
	// `peer` handles records in order, so it applies the operations before it handles the records of the
	// synchronization.
	int (*flush_before_barrier)(struct gompi_win *w, int peer, const char *call);
	// The function `lock` acquires the lock of `target` for an epoch. The function `unlock` waits until all
	// operations of this process have completed at `target`, then releases the lock. Between nodes only, `target`
	// may be GOMPI_ALL for the locks of all targets. In this case, the lock of each target is acquired with the
	// first operation to this target.
	int (*lock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	int (*unlock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	// Opens an exposure epoch for the member `origin`.
	int (*post)(struct gompi_win *w, int origin, const char *call);
	// Ends the access epoch of this process at `target`. Notifies the target after all operations have completed
	// there. Returns when no operation uses a buffer of this process.
	int (*complete)(struct gompi_win *w, int target, const char *call);
};

// Returns true if `local` is the application's buffer of this datatype at `address` itself, not a packed copy of the
// buffer. The application's buffer stays valid until the operation has completed. Returns false if o returns a request
// but cannot stay pending.
static inline bool gompi_is_user_buffer(const struct gompi_operation *o, const char *local, const void *address,
					MPI_Datatype datatype) {
	const struct gompi_type *type = gompi_type_get(datatype);
	return (!o->returns_request || o->rma_request != NULL) && type != NULL &&
	       (type->flags & GOMPI_TYPE_CONTIGUOUS) && local == (const char *)address + type->origin;
}

// The transports for targets on this node, and for targets on other nodes.
extern const struct gompi_transport gompi_transport_node;
extern const struct gompi_transport gompi_transport_fabric;

// Returns the transport to a member of w.
static inline const struct gompi_transport *gompi_transport_to(const struct gompi_win *w, int rank) {
	return gompi_win_is_remote(w, rank) ? &gompi_transport_fabric : &gompi_transport_node;
}

// Puts at most GOMPI_SHORT_PUT_BYTES contiguous bytes into the window of a member on another node. This is a fast path
// of the transport's function `move` with fewer checks. The caller has checked the range and the epoch, and that the
// window is not dynamic. Returns true if the put has been sent. Returns false if nothing has been done. The caller then
// uses `move`, which reports errors. GOMPI_SHORT_PUT_BYTES is below the size from which the transport writes registered
// memory, so it always sends such puts as records.
enum { GOMPI_SHORT_PUT_BYTES = 4096 };
bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes);

// Waits until all operations that this process has sent to `target`, or to all members (GOMPI_ALL), have completed
// there. The argument `call` names the MPI function in errors. Returns 0 or an error class. gompi_flush returns at once
// if no operation has been sent through a transport (flush_flags is 0); gompi_flush_slow omits this check.
int gompi_flush_slow(struct gompi_win *w, int target, const char *call, bool local);
static inline int gompi_flush(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_flags) != 0, 0) ? gompi_flush_slow(w, target, call, false)
								     : MPI_SUCCESS;
}

// Waits like gompi_flush, but only until no operation uses a buffer of this process.
static inline int gompi_flush_local(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_flags) != 0, 0) ? gompi_flush_slow(w, target, call, true)
								     : MPI_SUCCESS;
}

// Completes the operations to all members before a barrier of all members. Omits waits that the barrier makes
// unnecessary. Returns 0 or an error class.
int gompi_flush_before_barrier(struct gompi_win *w, const char *call);

// Implements MPI_Win_lock_all for the members on other nodes (gompi_win_is_remote). At least one member must be on
// another node. gompi_unlock_all_remote implements MPI_Win_unlock_all for these members, and flushes the operations to
// them. gompi_flush_node flushes the operations to members on this node. Each function returns 0 or an error class.
int gompi_lock_all_remote(struct gompi_win *w, const char *call);
int gompi_unlock_all_remote(struct gompi_win *w, const char *call);
int gompi_flush_node(struct gompi_win *w, const char *call);

// Acquires the lock on another node that this thread has requested last, if the request has not been sent yet. Callers
// call this function before the thread requests another lock, so that the thread acquires locks in the order of its
// requests. Without this order, two threads that request locks in the same order could deadlock. Returns 0 or an error
// class.
int gompi_acquire_deferred_lock(const char *call);

#pragma GCC visibility pop
#endif
