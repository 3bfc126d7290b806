#include "transport/ring.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/sparse.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "transport/bounce.h"
#include "transport/rma_request.h"
#include "transport/transport.h"
#include "win/lock.h"
#include "win/error_detail.h"

static inline struct gompi_ring *ring_of(int process) {
	return (struct gompi_ring *)(gompi_node.operation_rings + (size_t)process * gompi_node.operation_stride);
}

static inline struct gompi_ring_cell *cell_at(struct gompi_ring *ring, uint64_t pos) {
	return (struct gompi_ring_cell *)(ring->cells + pos % GOMPI_RING_CELLS * GOMPI_RING_CELL);
}

_Static_assert(sizeof(struct gompi_ring) + (size_t)GOMPI_RING_CELLS * GOMPI_RING_CELL <= GOMPI_RING_SIZE,
	       "the ring fits");
_Static_assert(offsetof(struct gompi_ring_cell, packet.data) + GOMPI_PACKET_DATA == GOMPI_RING_CELL,
	       "a packet fills a cell");

// Returns the lowest state value of the lap to which position `pos` belongs. A lap is one use of all cells, counted
// from 0. In lap k, a cell has the states CELL_FREE, CELL_FILLED and CELL_ANSWERED plus 4 * k. So the cells of a zeroed
// ring are free in lap 0.
static inline uint64_t lap_state(uint64_t pos) { return pos / GOMPI_RING_CELLS * 4; }
enum { CELL_FREE = 0, CELL_FILLED = 1, CELL_ANSWERED = 2, CELL_NEXT_LAP = 4 };

// --- The error detail in an answer

static void write_answer_detail(struct gompi_answer *m, int class) {
	const struct gompi_error_detail r = gompi_consume_error_detail(class);
	m->detail_code = (uint16_t)r.code;
	m->a = r.a;
	m->b = r.b;
}

static void read_answer_detail(const struct gompi_answer *m) {
	gompi_store_error_detail(
		&(struct gompi_error_detail){.class = m->class, .code = m->detail_code, .a = m->a, .b = m->b});
}

// --- At the origin

struct cell_wait {
	struct gompi_ring_cell *cell;
	uint64_t state;
};

static bool cell_state_reached(void *arg) {
	struct cell_wait *t = arg;
	return gompi_load_acquire(&t->cell->state) == t->state;
}

// Implements find_failed (struct gompi_wait_desc) for a wait on a cell. Returns the process that owns the ring if this
// process is unreachable, else GOMPI_NONE_FAILED. Other failures do not end the wait. A thread that has reserved a cell
// must fill it and copy out the answer; otherwise the target would stop serving the ring at this cell.
static int failed_ring_owner(const void *peer, struct gompi_stuck_entry *place) {
	const int rank = *(const int *)peer;
	return gompi_is_unreachable(rank, place) ? rank : GOMPI_NONE_FAILED;
}

// Reserves the next cell of the ring of `peer` for this thread, and sets *pos to its position. Blocks until the cell is
// free. Returns NULL if `peer` has failed.
static struct gompi_ring_cell *acquire_cell(struct gompi_win *w, const char *call, int peer, uint64_t *pos) {
	int process = gompi_local_index(peer);
	struct gompi_ring *ring = ring_of(process);
	*pos = gompi_add_seq_cst(&ring->tail, 1);
	struct cell_wait t = {cell_at(ring, *pos), lap_state(*pos) + CELL_FREE};
	gompi_prefetch_rmw(t.cell);
	if (__builtin_expect(!cell_state_reached(&t), 0)) {
		gompi_ring_doorbell(process); // the ring is full; its packets may not have woken the target
		struct gompi_wait_desc waiting = {.call = call,
						  .peer = peer,
						  .object = w->handle,
						  .find_failed = failed_ring_owner,
						  .find_failed_arg = &peer};
		if (gompi_await(&ring->cell_wait, cell_state_reached, &t, &waiting) != MPI_SUCCESS)
			return NULL;
	}
	return t.cell;
}

// Publishes a filled cell. If `reply` is true, waits for the answer, copies its data to `result` and frees the cell.
// The argument sent_number is the target's element of sent_numbers. Returns 0 or an error class.
static int publish(struct gompi_win *w, const char *call, int peer, struct gompi_ring_cell *cell, uint64_t pos,
		   gompi_a64 *sent_number, bool reply, void *result, uint64_t bytes) {
	// Release: pairs with the acquire in apply_packets. This thread wakes the target only if it needs a reply. If
	// not, the thread that waits for completion wakes the target (gompi_ring_flush).
	gompi_store_release(&cell->state, lap_state(pos) + CELL_FILLED);
	if (!reply)
		return MPI_SUCCESS;
	int process = gompi_local_index(peer);
	gompi_ring_doorbell(process);
	struct cell_wait t = {cell, lap_state(pos) + CELL_ANSWERED};
	struct gompi_wait_desc waiting = {.call = call,
					  .peer = peer,
					  .object = w->handle,
					  .find_failed = failed_ring_owner,
					  .find_failed_arg = &peer};
	int rc = MPI_SUCCESS, polls = 0, max_polls = gompi_node.policy.is_oversubscribed ? 0 : GOMPI_ACK_POLLS;
	while (polls < max_polls && !cell_state_reached(&t))
		polls++;
	if (polls == max_polls)
		rc = gompi_await(&gompi_my_cell()->wait, cell_state_reached, &t, &waiting);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = cell->answer.class;
	if (rc != MPI_SUCCESS)
		read_answer_detail(&cell->answer);
	else if (result != NULL)
		gompi_copy_in(result, cell->answer.data, bytes);
	gompi_store_release(&cell->state, lap_state(pos) + CELL_NEXT_LAP);
	gompi_wake(&ring_of(process)->cell_wait);
	// All packets sent before this packet have been applied, too. So unless another packet has been sent since,
	// store 0 in *sent_number: a flush then returns without fetching the cache line of completed_ops.
	uint64_t number = pos + 1;
	gompi_cas_strong(sent_number, &number, 0);
	return rc;
}

// Returns the array of sent numbers. The entry of a member is the ring position + 1 of the last packet sent to it, or 0
// if a flush need not wait for it. Allocates the array at first use. Returns NULL if out of memory.
static gompi_a64 *sent_numbers(struct gompi_win *w) {
	gompi_a64 *numbers = gompi_load_acquire(&w->ring_sent);
	if (numbers != NULL)
		return numbers;
	gompi_a64 *mine = gompi_sparse_alloc(w->n * sizeof *mine);
	if (mine == NULL || gompi_cas_strong(&w->ring_sent, &numbers, mine))
		return mine;
	gompi_sparse_free(mine, w->n * sizeof *mine); // another thread has installed its array first
	return numbers;
}

// Raises *sent_number to `number`. Threads may store their numbers out of order, so a lower number never replaces a
// higher one.
static inline void raise_sent_number(gompi_a64 *sent_number, uint64_t number) {
	uint64_t sent = gompi_load(sent_number);
	while (sent < number && !gompi_cas_weak(sent_number, &sent, number))
		;
}

// Sends one packet, and sets *pos to its position.
static int send_packet_at(struct gompi_win *w, struct gompi_outgoing *o, uint64_t *pos) {
	const struct gompi_operation *operation = o->operation;
	int peer = gompi_member(w, operation->target)->peer;
	gompi_a64 *numbers = sent_numbers(w);
	if (numbers == NULL)
		return MPI_ERR_NO_MEM;
	struct gompi_ring_cell *cell = acquire_cell(w, operation->call, peer, pos);
	if (cell == NULL)
		return MPI_ERR_PROC_ABORTED;
	gompi_packet_write(&cell->packet, w, o, GOMPI_PACKET_DATA, GOMPI_PACKET_DATA);
	gompi_a64 *sent_number = &numbers[operation->target];
	raise_sent_number(sent_number, *pos + 1);
	if (!(gompi_load(&w->flush_flags) & FLUSH_SENT))
		gompi_or(&w->flush_flags, FLUSH_SENT);
	return publish(w, operation->call, peer, cell, *pos, sent_number, o->wants_reply, o->result, o->bytes);
}

int gompi_ring_send_packet(struct gompi_win *w, struct gompi_outgoing *o) {
	uint64_t pos;
	return send_packet_at(w, o, &pos);
}

int gompi_ring_send(struct gompi_win *w, const struct gompi_outgoing *whole) {
	for (uint64_t done = 0; done < whole->bytes;) {
		struct gompi_outgoing o = gompi_outgoing_after(whole, done);
		int rc = gompi_ring_send_packet(w, &o);
		if (rc != MPI_SUCCESS)
			return rc;
		done += o.bytes;
	}
	return MPI_SUCCESS;
}

struct ack_wait {
	gompi_a64 *ack;
	uint64_t number;
};

static bool acknowledged(void *arg) {
	struct ack_wait *a = arg;
	return (int64_t)(gompi_load_acquire(a->ack) - a->number) >= 0;
}

// Waits until process `peer` has applied this process' packets up to `number`. Returns 0 or MPI_ERR_PROC_ABORTED.
static int wait_for_ack(struct gompi_win *w, int peer, uint64_t number, const char *call) {
	int process = gompi_local_index(peer);
	struct ack_wait a = {&gompi_my_cell()->completed_ops[process], number};
	if (acknowledged(&a))
		return MPI_SUCCESS;
	// Poll for a while: the target may soon serve its ring without a wake-up, which is quicker than waking its
	// progress thread. Meanwhile serve this process' ring too, because the target may also wait for this process.
	for (int i = gompi_node.policy.is_oversubscribed ? GOMPI_ACK_POLLS : 0; i < GOMPI_ACK_POLLS; i++) {
		if (acknowledged(&a))
			return MPI_SUCCESS;
		if (i % 8 == 7)
			gompi_serve();
	}
	gompi_ring_doorbell(process);
	struct gompi_wait_desc waiting = {.call = call, .peer = peer, .object = w->handle};
	return gompi_await(&gompi_my_cell()->wait, acknowledged, &a, &waiting);
}

int gompi_ring_flush(struct gompi_win *w, int target, const char *call) {
	gompi_store(&w->has_moved, 0);
	gompi_a64 *numbers = gompi_load_acquire(&w->ring_sent);
	if (numbers == NULL)
		return MPI_SUCCESS;
	int first = target == GOMPI_ALL ? 0 : gompi_win_local_rank(w, target),
	    end = target == GOMPI_ALL ? w->local_size : first + 1, rc = MPI_SUCCESS;
	for (int i = first; i < end && rc == MPI_SUCCESS; i++) {
		int rank = gompi_win_rank_of_local(w, i), peer = gompi_member(w, rank)->peer;
		uint64_t number;
		// Copy out each result while the target fills the buffer of the next result.
		while (rc == MPI_SUCCESS && gompi_bounce_pending_result(peer, &number) &&
		       (rc = wait_for_ack(w, peer, number, call)) == MPI_SUCCESS)
			rc = gompi_bounce_collect();
		number = gompi_load(&numbers[rank]);
		// After a successful wait, the next flush need not load completed_ops, unless another packet follows.
		if (number != 0 && rc == MPI_SUCCESS && (rc = wait_for_ack(w, peer, number, call)) == MPI_SUCCESS)
			gompi_cas_strong(&numbers[rank], &number, 0);
	}
	return rc == MPI_SUCCESS ? gompi_bounce_collect() : rc;
}

bool gompi_ring_send_complete(struct gompi_win *w, int target, const char *call, int *class) {
	int peer = gompi_member(w, target)->peer, process = gompi_local_index(peer);
	gompi_a64 *numbers = gompi_load_acquire(&w->ring_sent);
	uint64_t number = numbers == NULL ? 0 : gompi_load(&numbers[target]), pos;
	struct ack_wait a = {&gompi_my_cell()->completed_ops[process], number};
	if (number == 0 || acknowledged(&a) || gompi_bounce_pending_result(peer, &pos))
		return false;
	struct gompi_ring_cell *cell = acquire_cell(w, call, peer, &pos);
	*class = cell == NULL ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
	if (cell == NULL)
		return true;
	cell->packet = (struct gompi_packet){
		.head.window = (uint32_t)w->handle, .origin = gompi_node.self, .head.kind = PACKET_COMPLETE};
	raise_sent_number(&numbers[target],
			  pos + 1); // so that the window is not freed before the packet has been applied
	gompi_store_release(&cell->state, lap_state(pos) + CELL_FILLED);
	// The target serves its ring while it waits for this packet. Its progress thread is needed only if the target's
	// application thread sleeps already. Before that thread sleeps, it executes a full fence, which pairs with
	// gompi_wake_fence, and serves the ring once more. Without the two fences, it could sleep with the packet in
	// the ring although this thread sees no sleeper.
	gompi_wake_fence();
	if (gompi_load(&gompi_member(w, target)->exposure_wait.has_sleepers) != 0)
		gompi_ring_doorbell(process);
	return true;
}

// Acquires a bounce buffer and returns its index. Blocks until a buffer is free. Returns -1 if a process has failed.
static int acquire_bounce(struct gompi_win *w, const char *call) {
	int buffer, peer;
	uint64_t number;
	while ((buffer = gompi_bounce_acquire(&peer, &number)) < 0)
		if (peer < 0)
			sched_yield(); // another thread will soon send the packet of the oldest buffer
		else if (wait_for_ack(w, peer, number, call) != MPI_SUCCESS)
			return -1;
	return buffer;
}

// Between near cores, an operation of at most MAX_SINGLE_BYTES bytes that follows a flush has pieces of
// SINGLE_PIECE_BYTES bytes. One process then copies a piece while the other one copies the piece before it, both in the
// caches. In a series of operations long pieces are better: their stores bypass the caches, which takes half the time.
enum { MAX_SINGLE_BYTES = 16 << 10, SINGLE_PIECE_BYTES = 4 << 10 };

int gompi_ring_send_bounced(struct gompi_win *w, const struct gompi_outgoing *whole,
			    struct gompi_rma_request *rma_request) {
	int peer = gompi_member(w, whole->operation->target)->peer, rc = MPI_SUCCESS;
	const bool is_single =
		whole->bytes <= MAX_SINGLE_BYTES && gompi_bounce_is_idle() && !gompi_load(&gompi_cores_are_distant);
	const uint64_t piece = is_single ? SINGLE_PIECE_BYTES : GOMPI_BOUNCE_BYTES,
		       max_bytes = piece / whole->element_bytes * whole->element_bytes;
	for (uint64_t done = 0, pos; done < whole->bytes && rc == MPI_SUCCESS;) {
		struct gompi_outgoing o = gompi_outgoing_after(whole, done);
		int buffer = acquire_bounce(w, o.operation->call);
		if (buffer < 0)
			return MPI_ERR_PROC_ABORTED;
		void *result = o.result;
		o.bytes = o.bytes < max_bytes ? o.bytes : max_bytes;
		if (o.origin != NULL) {
			gompi_copy_out_stream(gompi_bounce_data(buffer), o.origin, o.bytes);
			o.origin = gompi_bounce_address(buffer);
		}
		o.result = result != NULL ? gompi_bounce_address(buffer) : NULL;
		rc = send_packet_at(w, &o, &pos);
		if (rc == MPI_SUCCESS && rma_request != NULL)
			gompi_rma_request_add_ring(rma_request, gompi_local_index(peer));
		if (rc == MPI_SUCCESS)
			gompi_bounce_sent(buffer, peer, pos + 1, result, o.bytes, rma_request);
		else
			gompi_bounce_release(buffer);
		done += o.bytes;
	}
	return rc;
}

// --- At the target

static bool has_packet(void) {
	struct gompi_ring *ring = ring_of(gompi_node.local_index);
	uint64_t pos = gompi_load(&ring->head);
	return gompi_load_seq_cst(&cell_at(ring, pos)->state) == lap_state(pos) + CELL_FILLED;
}

// Stores the error in the bounce buffer of a PACKET_*_PULL packet that was not applied.
static void reject_pulled(const struct gompi_packet *m, int class) {
	const struct gompi_packet_pull *p = (const struct gompi_packet_pull *)m->data;
	if (m->head.length >= sizeof *p)
		gompi_bounce_store_error(m->origin, p->origin != 0 ? p->origin : p->result, class);
}

// Handles a PACKET_COMPLETE: an origin has ended its access epoch.
static int on_complete(const struct gompi_packet *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL)
		return gompi_set_error_detail(MPI_ERR_WIN, DETAIL_NO_WINDOW, m->head.window, (uint64_t)m->origin);
	gompi_member_add_complete(gompi_member(w, w->me));
	return MPI_SUCCESS;
}

// Applies packets until the ring is empty. Only the thread that has set the flag `serving` calls this function.
static void apply_packets(struct gompi_ring *ring) {
	// Packets are applied from a private copy, because another process may write to the cell at any time. The copy
	// has the same alignment to cache lines as the cell.
	static _Alignas(GOMPI_CACHE_LINE) char copy[GOMPI_RING_CELL];
	struct gompi_packet *m = &((struct gompi_ring_cell *)copy)->packet;
	for (;;) {
		uint64_t pos = gompi_load(&ring->head);
		struct gompi_ring_cell *c = cell_at(ring, pos);
		if (gompi_load_acquire(&c->state) != lap_state(pos) + CELL_FILLED)
			return;
		memcpy(m, &c->packet, sizeof *m);
		// Keeps the compiler from reading the cell again, so that all decisions use the validated copy.
		gompi_compiler_fence();
		if (m->head.length > GOMPI_PACKET_DATA)
			m->head.length = 0; // invalid length: the packet is rejected because its data is missing
		gompi_copy_small(m->data, c->packet.data, m->head.length);
		int rc = m->head.kind == PACKET_COMPLETE
				 ? on_complete(m)
				 : gompi_packet_apply(m, c->packet.data, GOMPI_PACKET_DATA, gompi_bounce_move);
		int origin = gompi_local_index(m->origin);
		if (rc != MPI_SUCCESS && gompi_packet_is_pull(m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER)))
			reject_pulled(m, rc);
		if (m->head.flags) {
			c->answer.class = (uint16_t)rc;
			if (rc != MPI_SUCCESS)
				write_answer_detail(&c->answer, rc);
			gompi_store_release(&c->state, lap_state(pos) + CELL_ANSWERED);
		}
		// Release: orders the effects of the operation before the acknowledgement. Pairs with the acquire in
		// acknowledged. The acknowledgement comes before the store to the cell's state, because the origin
		// waits for the acknowledgement. Usually no thread waits for the cell, whose cache line must be fetched
		// for the store.
		if (origin >= 0)
			gompi_store_release(&gompi_cell(origin)->completed_ops[gompi_node.local_index], pos + 1);
		gompi_store(&ring->head, pos + 1);
		if (!m->head.flags)
			gompi_store_release(&c->state, lap_state(pos) + CELL_NEXT_LAP);
		if (origin >= 0)
			gompi_wake_two(&gompi_cell(origin)->wait, &ring->cell_wait);
	}
}

bool gompi_ring_serve(void) {
	static atomic_flag serving = ATOMIC_FLAG_INIT;
	bool worked = false;
	// This code needs no lock of base/combining_lock.h. A thread that finds the flag set leaves its packet in the
	// ring. The thread that has set the flag checks the ring again after it has cleared the flag.
	while (has_packet() && !gompi_flag_test_and_set(&serving)) {
		apply_packets(ring_of(gompi_node.local_index));
		worked = true;
		gompi_flag_clear(&serving);
	}
	return worked;
}

// --- Recovery after a failed process

// Implements stuck_entry (struct gompi_service). Examines the cell at the head of a process' ring. If the cell is
// reserved but not filled, returns its position plus 1; otherwise returns 0. If the cell still holds an answer of the
// previous lap to a failed origin, frees the cell for the process that has reserved it in this lap, and returns 0.
static uint64_t find_unfilled_cell(int process) {
	struct gompi_ring *ring = ring_of(process);
	uint64_t pos = gompi_load_seq_cst(&ring->head);
	struct gompi_ring_cell *c = cell_at(ring, pos);
	uint64_t turn = gompi_load_seq_cst(&c->state), answered = lap_state(pos) - CELL_NEXT_LAP + CELL_ANSWERED;
	if (gompi_load_seq_cst(&ring->tail) <= pos || turn == lap_state(pos) + CELL_FILLED)
		return 0;
	if (pos >= GOMPI_RING_CELLS && turn == answered && gompi_is_failed(c->packet.origin)) {
		gompi_cas_weak_seq_cst(&c->state, &answered, lap_state(pos) + CELL_FREE);
		gompi_wake(&ring->cell_wait);
		return 0;
	}
	return pos + 1;
}

// Implements member_process (struct gompi_service): returns the process of member i of a window, or -1.
static int window_member(uint64_t object, int i) {
	const struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)object);
	return w == NULL || (uint32_t)i >= w->n ? -1 : gompi_win_peer(w, i);
}

void gompi_ring_open(void) {
	static const struct gompi_service service = {.has_work = has_packet,
						     .serve = gompi_ring_serve,
						     .member_process = window_member,
						     .fill_details = gompi_win_fill_wait_record,
						     .stuck_entry = find_unfilled_cell};
	gompi_service_add(&service);
}
