// The way to processes of this node: data through the ring of the target, or by system calls; locks, posts and
// completes in the window's control memory, which all of them share.
#include "way/cma.h"
#include "way/ring.h"
#include "way/way.h"

#include "base/node.h"
#include "base/wait.h"
#include "win/lock.h"

// Pieces are sent through the ring unless they are so few, or so long on average, that the system moves them sooner.
enum { FEW_PIECES = 16, LONG_PIECE = 512 };

// A get of more than this is quicker by the system even if somebody at the target looks. A put of pieces of up to that
// many bytes goes in messages of its own then: the target stores one while the origin writes the next.
enum { SMALL_GET = 256, STREAMED_PUT = 32 << 10 };

// Whether somebody at the target looks at its ring soon without being woken: in active target synchronization it comes
// to a call of its own, or is in one.
static bool is_polled(const struct gompi_win *w, int process) {
	return !(gompi_load(&w->access) & ACCESS_PASSIVE) || gompi_load(&gompi_cell(process)->pollers) > 0;
}

// How a put or get gets to memory that is not mapped here: whether by system calls, or else through the ring.
static bool by_system(const struct gompi_win *w, const struct gompi_place *at, int64_t bytes, bool put, bool polled) {
	if (!gompi_node.cma)
		return false; // the system does not let us
	if (at->type->flags & GOMPI_TYPE_CONTIGUOUS) {
		if (bytes > GOMPI_MESSAGE_DATA)
			return true; // one copy, not two
		if (!put && bytes > SMALL_GET && (gompi_load(&w->access) & ACCESS_PASSIVE))
			return true; // a get needs an answer
		return !polled;      // a ring that is looked at is quicker, and takes data of several origins at once
	}
	if (bytes / LONG_PIECE / at->count >= at->type->segments)
		return true; // long pieces, for which an address each costs little
	if (at->count <= FEW_PIECES && at->count * at->type->segments <= FEW_PIECES)
		return !polled; // few pieces: as if they were one
	return false; // many short ones: the ring takes them in fewer words, and the target copies them faster
}

// Sends an operation through the ring. Data that is too large for a message stays here and is moved by the target
// itself, if the system allows that; it answers when it has, since the buffers may be temporary ones of this call.
static int send_or_pull(struct gompi_win *w, struct gompi_outgoing *o, enum gompi_message_kind pull,
			const struct gompi_place *at, enum gompi_view view) {
	struct gompi_cursor cursor;
	if (o->pieces != NULL)
		gompi_cursor_init(o->pieces = &cursor, at->type, at->count, view);
	if (gompi_node.cma && o->bytes > GOMPI_MESSAGE_DATA) {
		struct gompi_outgoing pulled = *o;
		pulled.kind = pull;
		pulled.reply = true;
		int rc = gompi_ring_send(w, &pulled);
		if (rc != MPI_ERR_UNSUPPORTED_OPERATION)
			return rc;
		gompi_node.cma = false; // the system forbids it after all, and nothing has been done
		if (o->pieces != NULL)
			gompi_cursor_init(&cursor, at->type, at->count, view);
	}
	return gompi_ring_send(w, o);
}

enum { SERIES = 16 };
static _Thread_local unsigned small_moves __attribute__((tls_model("initial-exec")));

static int node_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_place *at,
		     char *local, int64_t bytes) {
	struct gompi_win_member *m = gompi_member(w, operation->target);
	int process = gompi_on_node(m->peer);
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	uint64_t address = m->address + at->offset;
	bool polled = is_polled(w, process);
	// Nobody is waited for that was late.
	if (gompi_ring_late > 0 && contiguous && (gompi_load(&w->access) & ACCESS_PASSIVE)) {
		gompi_ring_late--;
		polled = false;
	}
	bool system = by_system(w, at, bytes, put, polled);
	// A series of small puts or gets to a process that is blocked in a call anyway: from now on its agent looks,
	// and they take the ring.
	if (!polled && contiguous && gompi_ring_late == 0 && bytes <= (put ? GOMPI_MESSAGE_DATA : SMALL_GET) &&
	    ++small_moves % SERIES == 0 && gompi_load(&gompi_cell(process)->blocked) > 0)
		gompi_ring_doorbell(process);
	if (gompi_node.cma && !put && !contiguous &&
	    gompi_cma_get_span(m->peer, address, at->count, at->type, local, bytes))
		return MPI_SUCCESS;
	if (system && gompi_cma_move_pieces(m->peer, address, at->count, at->type, local, bytes, put))
		return MPI_SUCCESS;
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	o.pieces = contiguous ? NULL : &cursor;
	o.reply = !put;
	if (!contiguous && put && polled && bytes <= STREAMED_PUT) {
		gompi_cursor_init(&cursor, at->type, at->count, GOMPI_BYTES);
		return gompi_ring_send(w, &o);
	}
	if (!contiguous)
		return send_or_pull(w, &o, put ? MESSAGE_PUT_PULL : MESSAGE_GET_PULL, at, GOMPI_BYTES);
	return gompi_ring_send(w, &o);
}

static int node_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_place *at,
		       const char *origin, char *result) {
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, origin, result);
	o.reply = operation->kind != RMA_ACCUMULATE;
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		o.pieces = &cursor;
	if (operation->kind == RMA_COMPARE_AND_SWAP) {
		gompi_cursor_init(&cursor, at->type, at->count, GOMPI_ELEMENTS);
		return gompi_ring_send_one(w, &o);
	}
	return send_or_pull(w, &o, o.reply ? MESSAGE_FETCH_PULL : MESSAGE_ACCUMULATE_PULL, at, GOMPI_ELEMENTS);
}

static int node_lock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	return gompi_lock_try(gompi_member(w, target), exclusive, false) ? MPI_SUCCESS
									 : gompi_lock_wait(w, target, exclusive, call);
}

static int node_unlock(struct gompi_win *w, int target, bool exclusive, const char *call) {
	int rc = gompi_flush(w, target, call);
	gompi_unlock(w, target, exclusive);
	return rc;
}

static int node_post(struct gompi_win *w, int origin, const char *call) {
	_Atomic uint8_t *posts = gompi_posts(w, origin, w->me);
	// release: this process' stores to its window are before it; pairs with the acquire in posted (rma/pscw.c)
	gompi_store_release(posts, (uint8_t)(gompi_load(posts) + 1));
	gompi_wake(&gompi_member(w, origin)->access_wait);
	return MPI_SUCCESS;
}

static int node_complete(struct gompi_win *w, int target, const char *call) {
	int rc = gompi_flush(w, target, call);
	struct gompi_win_member *m = gompi_member(w, target);
	// total, so a release: this epoch's operations are before it; pairs with the acquire in completed (rma/pscw.c)
	gompi_add_total(&m->completed, 1);
	gompi_wake_changed(&m->exposure_wait);
	return rc;
}

const struct gompi_way gompi_way_node = {
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
