// How a target is reached whose memory is not mapped here. The calls (rma/) check an operation and hand it to its
// target's transport, chosen when the window is made; nothing above knows which transports there are.
#ifndef GOMPI_TRANSPORT_H
#define GOMPI_TRANSPORT_H

#include "datatype/buffer.h"
#include "win/operation.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// A transport. Functions that can fail return 0 or an error class: MPI_ERR_PROC_ABORTED, MPI_ERR_NO_MEM, or what the
// target has answered. Those that wait serve what arrives for this process meanwhile. at is the target's buffer,
// checked to be inside: offset, count, type, which is not NULL.
struct gompi_transport {
	const char *name;
	// Moves the bytes of the put or get o between local and the target. On return a get is there, a put is sent,
	// and local may be used again; where local is the application's own buffer only when flush_local returns or, if
	// o gives a request, when that is complete.
	int (*move)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at, char *local,
		    int64_t bytes);
	// Does the accumulate o. origin and result are arrays of elements, of a predefined type, or NULL. On return it
	// is sent, and origin may be used again; a result is there, or as with move.
	int (*update)(struct gompi_win *w, const struct gompi_operation *o, const struct gompi_buffer *at,
		      MPI_Datatype element, const char *origin, char *result);
	// Waits until everything that this process has sent to target, or to all targets of this transport (GOMPI_ALL),
	// is done there; for the function called call.
	int (*flush)(struct gompi_win *w, int target, const char *call);
	// The same, but only until no buffer of this process is needed any more.
	int (*flush_local)(struct gompi_win *w, int target, const char *call);
	// Between nodes: as flush of all targets before a group of leaders with the process peer, which waits for no
	// record to peer: it applies them before it learns of the group of leaders.
	int (*settle)(struct gompi_win *w, int peer, const char *call);
	// Takes the lock of target's memory for an epoch, and gives it back when everything that this process has
	// sent to target is done there. GOMPI_ALL, between nodes: those of all targets, which are taken when
	// something is sent to them.
	int (*lock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	int (*unlock)(struct gompi_win *w, int target, bool exclusive, const char *call);
	// Opens an exposure epoch for origin.
	int (*post)(struct gompi_win *w, int origin, const char *call);
	// Tells target that this process has completed its access epoch, when everything it has sent is done there, and
	// returns when no buffer of this process is needed any more.
	int (*complete)(struct gompi_win *w, int target, const char *call);
};

// Returns true if local, the bytes or elements of a buffer of datatype at address, is the application's buffer
// itself, which then stays as it is until the operation is over, and not a copy of its call.
static inline bool gompi_is_applications(const struct gompi_operation *o, const char *local, const void *address,
					 MPI_Datatype datatype) {
	const struct gompi_type *type = gompi_type_get(datatype);
	return (!o->requests || o->ongoing != NULL) && type != NULL && (type->flags & GOMPI_TYPE_CONTIGUOUS) &&
	       local == (const char *)address + type->origin;
}

// To processes of this node, and of others.
extern const struct gompi_transport gompi_transport_node;
extern const struct gompi_transport gompi_transport_fabric;

// The transport to a member of w: the only place that tells one from another.
static inline const struct gompi_transport *gompi_transport_to(const struct gompi_win *w, int rank) {
	return gompi_win_elsewhere(w, rank) ? &gompi_transport_fabric : &gompi_transport_node;
}

// Puts at most GOMPI_SHORT_PUT bytes, which lie together, to where they fit in the window of a member on another node,
// in an epoch that allows it: does what the member's transport does with a put, and asks less. Whether it has; if not
// nothing is done, and move does it, or says why not. Not for dynamic windows. So few bytes always go by records.
enum { GOMPI_SHORT_PUT = 4096 };
bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes);

// Waits until everything that this process has sent to target, or to all members (GOMPI_ALL), is done there; for the
// function called call. 0 or an error class. What no transport has been asked for is done already.
int gompi_flush_slow(struct gompi_win *w, int target, const char *call, bool local);
static inline int gompi_flush(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_more) != 0, 0) ? gompi_flush_slow(w, target, call, false)
								    : MPI_SUCCESS;
}

// The same, but only until no buffer of this process is needed any more.
static inline int gompi_flush_local(struct gompi_win *w, int target, const char *call) {
	return __builtin_expect(gompi_load(&w->flush_more) != 0, 0) ? gompi_flush_slow(w, target, call, true)
								    : MPI_SUCCESS;
}

// Before a barrier of all members: gompi_flush of all, as far as the barrier does not see to it.
int gompi_settle(struct gompi_win *w, const char *call);

// MPI_Win_lock_all and its end for members whose transport has their locks (gompi_win_elsewhere), of which there are
// some. unlock flushes what has been sent to them; gompi_flush_here all others. 0 or an error class.
int gompi_lock_elsewhere(struct gompi_win *w, const char *call);
int gompi_unlock_elsewhere(struct gompi_win *w, const char *call);
int gompi_flush_here(struct gompi_win *w, const char *call);

// Takes the lock that this thread has asked for between nodes and that has not been sent yet, if there is one, so that
// it has locks in the order in which it has asked for them: else two could wait for each other that ask in the same
// order. 0 or an error class.
int gompi_lock_in_order(const char *call);

#pragma GCC visibility pop
#endif
