// The transport to processes of this node: data through the ring of the target, or by system calls (CMA); locks, posts
// and completes in the window's control memory, which all members on the node share.
#include "base/poll.h"
#include "transport/cma.h"
#include "transport/ongoing.h"
#include "transport/ring.h"
#include "transport/transport.h"

#include "base/node.h"
#include "base/wait.h"
#include "win/lock.h"

// Segments of at least this size are moved by the system as fast as by the target. Shorter ones are not, because the
// system needs an address for each.
enum { LONG_PIECE = 512 };

// Data up to this size uses the ring if the target polls it: two overlapping copies, each within a cache. For larger
// data the system makes one copy: 32 KiB take 3.8 us that way. Through the ring 32 KiB take 4.9 us between near cores,
// 3.1 us each with 64 of them in progress, but 17 us between distant cores.
enum { RING_MOST = 16 << 10 };

// Two operations within this time that find the target's ring not polled are a series.
enum { SERIES_NS = 100000 };

// Returns true if the target serves its ring soon without being woken. In active target synchronization the target is
// in a call of its own, or will make one.
static bool is_polled(const struct gompi_win *w, int process) {
	return !(gompi_load(&w->access) & ACCESS_PASSIVE) || gompi_load(&gompi_cell(process)->pollers) > 0;
}

// Returns true if a put or get is moved by system calls, which need no thread of the target. Otherwise it uses the
// ring, which takes a fraction of the time if the target polls it.
static bool by_system(const struct gompi_buffer *at, int64_t bytes, bool polled) {
	return gompi_node.cma && (!polled || bytes > RING_MOST) &&
	       ((at->type->flags & GOMPI_TYPE_CONTIGUOUS) || bytes / LONG_PIECE / at->count >= at->type->segments);
}

// Wakes the progress thread of a process whose application threads are blocked anyway, so that the next operations of a
// series can use the ring.
static void expect_more(int process) {
	static _Thread_local int64_t last __attribute__((tls_model("initial-exec")));
	int64_t now = gompi_now_ns();
	if (now - last < SERIES_NS && gompi_load(&gompi_cell(process)->blocked) > 0)
		gompi_ring_doorbell(process);
	last = now;
}

// Moves the data of a put or get. An operation with a request waits for its data if the target polls its ring: the data
// arrives sooner than a request could be created. Otherwise it leaves the operation pending.
static int node_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		     char *local, int64_t bytes) {
	struct gompi_win_member *m = gompi_member(w, operation->target);
	int process = gompi_on_node(m->peer);
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	const bool polled = is_polled(w, process);
	if (by_system(at, bytes, polled)) {
		if (!polled && bytes <= RING_MOST)
			expect_more(process);
		if (gompi_cma_move_pieces(m->peer, m->address + at->offset, at->count, at->type, local, bytes, put)) {
			gompi_takes(operation, MPIX_GOMPIRMA_CMA);
			return MPI_SUCCESS;
		}
	}
	gompi_takes(operation, MPIX_GOMPIRMA_RING);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	if (put && contiguous && bytes <= GOMPI_PACKET_DATA)
		return gompi_ring_send(w, &o);
	o.kind = put ? PACKET_PUT_PULL : PACKET_GET_PULL;
	if (!contiguous)
		gompi_cursor_init(o.pieces = &cursor, at->type, at->count, GOMPI_BYTES);
	bool stays = !put && gompi_is_applications(operation, local, operation->result, operation->result_type);
	struct gompi_ongoing *ongoing = stays && !polled ? gompi_ongoing_of(w, operation) : NULL;
	int rc = gompi_ring_send_bounced(w, &o, ongoing);
	return rc == MPI_SUCCESS && !put && (operation->requests ? ongoing == NULL : !stays)
		       ? gompi_ring_wait(w, operation->target, operation->call)
		       : rc;
}

static int node_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		       MPI_Datatype element, const char *origin, char *result) {
	int process = gompi_on_node(gompi_member(w, operation->target)->peer);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, element, origin, result);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) || operation->kind == RMA_COMPARE_AND_SWAP)
		gompi_cursor_init(&cursor, at->type, at->count, GOMPI_ELEMENTS);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		o.pieces = &cursor;
	bool fetches = operation->kind != RMA_ACCUMULATE;
	gompi_takes(operation, MPIX_GOMPIRMA_RING);
	struct gompi_ongoing *ongoing = NULL;
	if (fetches && operation->ongoing != NULL && !is_polled(w, process) &&
	    gompi_is_applications(operation, result, operation->result, operation->result_type))
		ongoing = gompi_ongoing_of(w, operation);
	if (operation->kind == RMA_COMPARE_AND_SWAP ||
	    (o.pieces == NULL && o.bytes <= GOMPI_PACKET_DATA && ongoing == NULL)) {
		o.reply = fetches;
		return gompi_ring_send_one(w, &o);
	}
	o.kind = fetches ? PACKET_FETCH_PULL : PACKET_ACCUMULATE_PULL;
	int rc = gompi_ring_send_bounced(w, &o, ongoing);
	return rc == MPI_SUCCESS && fetches && ongoing == NULL ? gompi_ring_wait(w, operation->target, operation->call)
							       : rc;
}

static int node_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	return gompi_lock_try(gompi_member(w, target), exclusive, false) ? MPI_SUCCESS
									 : gompi_lock_wait(w, target, exclusive, call);
}

// Waits until the operations sent to target have been applied.
static int end_operations(struct gompi_win *w, int target, const char *call) {
	if (__builtin_expect(gompi_load(&w->flush_more) == 0, 1))
		return MPI_SUCCESS;
	gompi_poll_flushed();
	return gompi_ring_wait(w, target, call);
}

static int node_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	int rc = end_operations(w, target, call);
	gompi_unlock(w, target, exclusive);
	return rc;
}

static int node_post(struct gompi_win *w, int origin, const char *call) {
	_Atomic uint8_t *posts = gompi_posts(w, origin, w->me);
	// Release: this process' stores to its window come before; pairs with the acquire in posted (rma/pscw.c).
	gompi_store_release(posts, (uint8_t)(gompi_load(posts) + 1));
	gompi_wake(&gompi_member(w, origin)->access_wait);
	return MPI_SUCCESS;
}

static int node_complete(struct gompi_win *w, int target, const char *call) {
	int rc;
	// In a dynamic window the target may reject an operation. That error is known only after the operation has been
	// acknowledged, so it waits then.
	if (w->attached == NULL && gompi_ring_complete(w, target, call, &rc))
		return rc;
	rc = end_operations(w, target, call);
	gompi_member_completed(gompi_member(w, target));
	return rc;
}

const struct gompi_transport gompi_transport_node = {
	.name = "node",
	.move = node_move,
	.update = node_update,
	.flush = gompi_ring_wait,
	.flush_local = gompi_ring_wait,
	.lock = node_lock,
	.unlock = node_unlock,
	.post = node_post,
	.complete = node_complete,
};
