// The transports: how an operation reaches a target whose memory is not mapped in this process. The calls (rma/) check
// an operation and pass it to the transport of its target (gompi_transport_to). There are two: node.c for targets on
// this node, fabric.c for targets on other nodes. rma/ knows of both: locks, posts and short puts have separate code
// for targets on other nodes.
#ifndef GOMPI_TRANSPORT_H
#define GOMPI_TRANSPORT_H

#include "datatype/buffer.h"
#include "win/operation.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// A transport. Functions that can fail return 0 or an error class: MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM, or an error
// that the target has answered. Functions that block make progress meanwhile. at is the target's buffer (offset, count,
// type), already checked to be inside the window; at->type is not NULL.
struct gompi_transport {
	const char *name;
	// Moves the bytes of the put or get o between local and the target. On return a put has been sent, a get has
	// completed, and local may be reused. Exception: if local is the application's own buffer, it may be reused
	// only after flush_local or, if o has a request, after the request has completed.
	int (*move)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at, char *local,
		    int64_t bytes);
	// Performs the accumulate o. origin and result are arrays of elements of a predefined type, or NULL. On return
	// it has been sent, and origin may be reused. The result is stored on return, with the same exception as in
	// move.
	int (*update)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at,
		      MPI_Datatype element, const char *origin, char *result);
	// Waits until all operations that this process has sent to target, or to all targets of this transport
	// (GOMPI_ALL), have completed at the target. call names the MPI function in errors.
	int (*flush)(struct gompi_win *w, int target, const char *call);
	// Waits until no operation to target, or to any target (GOMPI_ALL), needs a buffer of this process.
	int (*flush_local)(struct gompi_win *w, int target, const char *call);
	// Between nodes only. Flushes all targets before a synchronization of the node leaders in which this process
	// exchanges records with the process peer. For peer itself it waits only for returning data: peer applies
	// records in order, so it applies them before the records of the synchronization.
	int (*flush_before_barrier)(struct gompi_win *w, int peer, const char *call);
	// lock acquires the lock of target for an epoch. unlock waits until all operations of this process have
	// completed at target, then releases the lock. GOMPI_ALL (between nodes only) means the locks of all targets;
	// each is acquired with the first operation to its target.
	int (*lock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	int (*unlock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	// Opens an exposure epoch for origin.
	int (*post)(struct gompi_win *w, int origin, const char *call);
	// Ends the access epoch of this process at target: notifies target after all operations have completed there.
	// Returns when no buffer of this process is needed any more.
	int (*complete)(struct gompi_win *w, int target, const char *call);
};

// Returns true if local (the bytes or elements of a buffer of datatype at address) is the application's buffer itself
// and not a copy. The application's buffer stays valid until the operation has completed.
static inline bool gompi_is_user_buffer(const struct gompi_operation *o, const char *local, const void *address,
					MPI_Datatype datatype) {
	const struct gompi_type *type = gompi_type_get(datatype);
	return (!o->returns_request || o->rma_request != NULL) && type != NULL &&
	       (type->flags & GOMPI_TYPE_CONTIGUOUS) && local == (const char *)address + type->origin;
}

// For targets on this node, and on other nodes.
extern const struct gompi_transport gompi_transport_node;
extern const struct gompi_transport gompi_transport_fabric;

// Returns the transport to a member of w.
static inline const struct gompi_transport *gompi_transport_to(const struct gompi_win *w, int rank) {
	return gompi_win_is_remote(w, rank) ? &gompi_transport_fabric : &gompi_transport_node;
}

// Puts at most GOMPI_SHORT_PUT_BYTES contiguous bytes into the window of a member on another node. This is a fast path
// of the transport's move with fewer checks: the caller has checked the range and the epoch; not for dynamic windows.
// Returns true if the put has been sent. Returns false if nothing has been done; the caller then uses move, which
// reports errors. Puts of this size always travel as records.
enum { GOMPI_SHORT_PUT_BYTES = 4096 };
bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes);

// Waits until all operations that this process has sent to target, or to all members (GOMPI_ALL), have completed there.
// call names the MPI function in errors. Returns 0 or an error class. If no operation has been sent through a transport
// (flush_flags is 0), it returns at once.
int gompi_flush_slow(struct gompi_win *w, int target, const char *call, bool local);
static inline int gompi_flush(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_flags) != 0, 0) ? gompi_flush_slow(w, target, call, false)
								     : MPI_SUCCESS;
}

// Waits like gompi_flush, but only until no buffer of this process is needed any more.
static inline int gompi_flush_local(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_flags) != 0, 0) ? gompi_flush_slow(w, target, call, true)
								     : MPI_SUCCESS;
}

// Completes the operations to all members before a barrier of all members. It omits the waits that the barrier itself
// makes unnecessary.
int gompi_flush_before_barrier(struct gompi_win *w, const char *call);

// Implements MPI_Win_lock_all and MPI_Win_unlock_all for the members on other nodes (gompi_win_is_remote), at least
// one. gompi_unlock_all_remote flushes the operations to them; gompi_flush_node flushes those to members on this node.
// Each returns 0 or an error class.
int gompi_lock_all_remote(struct gompi_win *w, const char *call);
int gompi_unlock_all_remote(struct gompi_win *w, const char *call);
int gompi_flush_node(struct gompi_win *w, const char *call);

// Acquires the lock on another node that this thread has requested last, if that request has not been sent yet. So the
// thread acquires locks in the order of its requests. Otherwise two threads that request locks in the same order could
// deadlock. Returns 0 or an error class.
int gompi_acquire_deferred_lock(const char *call);

#pragma GCC visibility pop
#endif
