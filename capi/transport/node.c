// The transport to processes of this node. Data moves through the target's ring or by system calls (CMA). Locks, posts
// and completes are in the window's control memory, which all members on the node share.
#include "base/poll.h"
#include "transport/bounce.h"
#include "transport/cma.h"
#include "transport/rma_request.h"
#include "transport/ring.h"
#include "transport/transport.h"

#include "base/node.h"
#include "base/wait.h"
#include "win/lock.h"

// System calls move segments of at least this many bytes as fast as the target does from its ring. For shorter
// segments, system calls are slower, because they need an address for each segment.
enum { MIN_CMA_SEGMENT = 512 };

// Data up to MAX_RING_BYTES bytes uses the ring if the target polls it. A transfer through the ring makes two copies,
// which overlap. A system call makes one copy. Measured for 32 KiB: a system call takes 3.8 to 4.2 us. With the ring, a
// put takes 2.4 us with 64 puts in progress, and 3.2 us in an epoch of MPI_Win_start, but a get takes 4.6 us. So a get,
// and a put with a flush, use the ring up to MAX_SINGLE_RING_BYTES if no other operation precedes them.
enum { MAX_RING_BYTES = 32 << 10, MAX_SINGLE_RING_BYTES = 16 << 10 };

// If two operations follow each other within this time (ns), and no thread of the target polls its ring when they are
// sent, they are treated as a series (wake_for_series).
enum { SERIES_NS = 100000 };

// Returns true if the target serves its ring soon without being woken. Either a thread of the target polls the ring, or
// the epoch is one of active target synchronization. In the latter case, the target serves the ring in its own
// synchronization call.
static bool is_polled(const struct gompi_win *w, int process) {
	return !(gompi_load(&w->access) & ACCESS_PASSIVE) || gompi_load(&gompi_cell(process)->poller_count) > 0;
}

// The time of a put or get through the ring of a target that polls it, with its flush, is about RING_NS ns plus
// RING_16K_NS ns for each 16 KiB. Below MIN_SINGLE_BYTES bytes, a system call is never used.
enum { RING_NS = 350, RING_16K_NS = 1850, MIN_SINGLE_BYTES = 256 };

// Returns true if a system call takes less time than the ring for a put or get that is the only one between two
// flushes. A system call takes 400 ns on one machine, and 2.5 us on another. Data of another process takes about twice
// as long as data of this process, which gompi_cma_16k_ns measures.
static bool is_single_cma_faster(int64_t bytes) {
	return bytes >= MIN_SINGLE_BYTES &&
	       (gompi_cma_call_ns() - RING_NS) * (16 << 10) <= bytes * (RING_16K_NS - 2 * gompi_cma_16k_ns());
}

// Returns true if system calls move data of this size faster than the ring of a target that polls it. In a series
// without flushes the ring is faster, because the target copies the data while the origin sends the next operation. In
// an epoch of active target synchronization a packet with its data costs least, because MPI_Win_complete follows it in
// the ring.
static bool is_cma_faster(const struct gompi_win *w, bool put, int64_t bytes, bool is_single) {
	const bool passive = gompi_load(&w->access) & ACCESS_PASSIVE;
	if (!is_single || bytes > MAX_RING_BYTES)
		return bytes > MAX_RING_BYTES;
	if (bytes > MAX_SINGLE_RING_BYTES && (passive || !put))
		return true;
	return (bytes > GOMPI_PACKET_DATA || passive) && is_single_cma_faster(bytes);
}

// Returns true if the segments of the data have MIN_CMA_SEGMENT bytes on average.
static bool has_long_segments(const struct gompi_buffer *at, int64_t bytes) {
	return (at->type->flags & GOMPI_TYPE_CONTIGUOUS) || bytes / MIN_CMA_SEGMENT / at->count >= at->type->segments;
}

// Wakes the target's progress thread in a series of operations, so that the next operations can use the ring. Wakes it
// only if application threads of the target are blocked, so that the progress thread takes no core from them.
static void wake_for_series(int process) {
	static _Thread_local int64_t last __attribute__((tls_model("initial-exec")));
	int64_t now = gompi_now_ns();
	if (now - last < SERIES_NS && gompi_load(&gompi_cell(process)->blocked_count) > 0)
		gompi_ring_doorbell(process);
	last = now;
}

// Moves the data of a put or get. If the target polls its ring, a get with a request waits for its data, because the
// data arrives sooner than a request could be created. If the target does not poll, the get stays pending.
static int node_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		     char *local, int64_t bytes) {
	struct gompi_win_member *m = gompi_member(w, operation->target);
	int process = gompi_local_index(m->peer);
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	const bool polled = is_polled(w, process), is_single = gompi_load(&w->has_moved) == 0;
	gompi_store(&w->has_moved, 1);
	if (is_single)
		gompi_bounce_poll(); // frees the buffers of an epoch that MPI_Win_complete has ended
	// System calls need no thread of the target.
	if (gompi_node.has_cma && (!polled || is_cma_faster(w, put, bytes, is_single)) &&
	    has_long_segments(at, bytes)) {
		if (!polled && bytes <= MAX_RING_BYTES)
			wake_for_series(process);
		if (gompi_cma_move_segments(m->peer, m->address + at->offset, at->count, at->type, local, bytes, put)) {
			gompi_record_path(operation, MPIX_GOMPIRMA_CMA);
			return MPI_SUCCESS;
		}
	}
	gompi_record_path(operation, MPIX_GOMPIRMA_RING);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	if (put && contiguous && bytes <= GOMPI_PACKET_DATA)
		return gompi_ring_send(w, &o);
	o.kind = put ? PACKET_PUT_PULL : PACKET_GET_PULL;
	if (!contiguous)
		gompi_cursor_init(o.cursor = &cursor, at->type, at->count, GOMPI_BYTES);
	bool may_stay_pending =
		!put && gompi_is_user_buffer(operation, local, operation->result, operation->result_type);
	struct gompi_rma_request *rma_request =
		may_stay_pending && !polled ? gompi_rma_request_get(w, operation) : NULL;
	int rc = gompi_ring_send_bounced(w, &o, rma_request);
	return rc == MPI_SUCCESS && !put && (operation->returns_request ? rma_request == NULL : !may_stay_pending)
		       ? gompi_ring_flush(w, operation->target, operation->call)
		       : rc;
}

static int node_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		       MPI_Datatype element, const char *origin, char *result) {
	int process = gompi_local_index(gompi_member(w, operation->target)->peer);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, element, origin, result);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) || operation->kind == RMA_COMPARE_AND_SWAP)
		gompi_cursor_init(&cursor, at->type, at->count, GOMPI_ELEMENTS);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		o.cursor = &cursor;
	bool fetches = operation->kind != RMA_ACCUMULATE;
	gompi_record_path(operation, MPIX_GOMPIRMA_RING);
	struct gompi_rma_request *rma_request = NULL;
	if (fetches && operation->rma_request != NULL && !is_polled(w, process) &&
	    gompi_is_user_buffer(operation, result, operation->result, operation->result_type))
		rma_request = gompi_rma_request_get(w, operation);
	if (operation->kind == RMA_COMPARE_AND_SWAP ||
	    (o.cursor == NULL && o.bytes <= GOMPI_PACKET_DATA && rma_request == NULL)) {
		o.wants_reply = fetches;
		return gompi_ring_send_packet(w, &o);
	}
	o.kind = fetches ? PACKET_FETCH_PULL : PACKET_ACCUMULATE_PULL;
	int rc = gompi_ring_send_bounced(w, &o, rma_request);
	return rc == MPI_SUCCESS && fetches && rma_request == NULL
		       ? gompi_ring_flush(w, operation->target, operation->call)
		       : rc;
}

static int node_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	return gompi_lock_try_newcomer(w, target, exclusive) ? MPI_SUCCESS
							     : gompi_lock_wait(w, target, exclusive, call);
}

// Waits until the member `target` has applied the operations that this process has sent to it.
static int flush_target(struct gompi_win *w, int target, const char *call) {
	if (__builtin_expect(gompi_load(&w->flush_flags) == 0, 1))
		return MPI_SUCCESS;
	gompi_poll_after_flush();
	return gompi_ring_flush(w, target, call);
}

static int node_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	int rc = flush_target(w, target, call);
	gompi_unlock_any(w, target, exclusive);
	return rc;
}

static int node_post(struct gompi_win *w, int origin, const char *call) {
	_Atomic uint8_t *posts = gompi_post_counter(w, origin, w->me);
	// Release: orders this process' stores to its window before the post. Pairs with the acquire in has_posted
	// (rma/pscw.c).
	gompi_store_release(posts, (uint8_t)(gompi_load(posts) + 1));
	gompi_wake(&gompi_member(w, origin)->access_wait);
	return MPI_SUCCESS;
}

static int node_complete(struct gompi_win *w, int target, const char *call) {
	int rc;
	gompi_store(&w->has_moved, 0);
	// In a dynamic window the target may reject an operation. This process learns of the error only when the
	// operation is acknowledged, so it waits for all operations first.
	if (w->attached == NULL && gompi_ring_send_complete(w, target, call, &rc))
		return rc;
	rc = flush_target(w, target, call);
	gompi_member_add_complete(gompi_member(w, target));
	return rc;
}

const struct gompi_transport gompi_transport_node = {
	.name = "node",
	.move = node_move,
	.update = node_update,
	.flush = gompi_ring_flush,
	.flush_local = gompi_ring_flush,
	.lock = node_lock,
	.unlock = node_unlock,
	.post = node_post,
	.complete = node_complete,
};
