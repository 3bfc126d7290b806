#include "transport/ring.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/loss.h"
#include "base/sparse.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "transport/bounce.h"
#include "transport/ongoing.h"
#include "transport/transport.h"
#include "win/lock.h"
#include "win/why.h"

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

// Returns the first state value of the lap of position pos. A fresh ring is all zeros, so each lap has its own values:
// state + 4 * lap, with lap 0 for the first use of a cell.
static inline uint64_t lap(uint64_t pos) { return pos / GOMPI_RING_CELLS * 4; }
enum { TURN_FREE = 0, TURN_FILLED = 1, TURN_ANSWERED = 2, TURN_NEXT = 4 };

// --- The error reason in an answer

static void write_reason(struct gompi_answer *m, int class) {
	const struct gompi_reason r = gompi_reason_take(class);
	m->why = (uint16_t)r.why;
	m->a = r.a;
	m->b = r.b;
}

static void read_reason(const struct gompi_answer *m) {
	gompi_reason_keep(&(struct gompi_reason){.class = m->class, .why = m->why, .a = m->a, .b = m->b});
}

// --- At the origin

struct turn_wait {
	struct gompi_ring_cell *cell;
	uint64_t turn;
};

static bool turn_reached(void *arg) {
	struct turn_wait *t = arg;
	return gompi_load_acquire(&t->cell->turn) == t->turn;
}

// Returns the rank whose failure ends a wait on a cell. A thread that has taken a position must fill its cell, and take
// the answer out of it; otherwise the ring stops there. So it gives up only if the ring's own process has failed. The
// failure of another process does not end these waits.
static int loss_of_target(const void *peer, struct gompi_stuck *place) {
	const int rank = *(const int *)peer;
	return gompi_is_gone(rank, place) ? rank : GOMPI_NOBODY;
}

// Takes the next cell of peer's ring for this thread; blocks until the cell is free. Returns NULL if peer has failed.
static struct gompi_ring_cell *take_cell(struct gompi_win *w, const char *call, int peer, uint64_t *pos) {
	int process = gompi_on_node(peer);
	struct gompi_ring *ring = ring_of(process);
	*pos = gompi_add_total(&ring->tail, 1);
	struct turn_wait t = {cell_at(ring, *pos), lap(*pos) + TURN_FREE};
	gompi_own_line(t.cell); // prefetches the line for writing
	if (__builtin_expect(!turn_reached(&t), 0)) {
		gompi_ring_doorbell(process); // the ring is full of packets for which the target has not been woken
		struct gompi_waiting what = {
			.call = call, .peer = peer, .object = w->handle, .lost = loss_of_target, .of = &peer};
		if (gompi_await(&ring->space, turn_reached, &t, &what) != MPI_SUCCESS)
			return NULL;
	}
	return t.cell;
}

// Publishes a filled cell. If reply is set, waits for the answer and copies its data to result. Returns 0 or an error
// class.
static int publish(struct gompi_win *w, const char *call, int peer, struct gompi_ring_cell *cell, uint64_t pos,
		   gompi_a64 *last, bool reply, void *result, uint64_t bytes) {
	// Release: pairs with the acquire in apply_all. Does not wake the target unless a reply is wanted; the thread
	// that waits for completion does that (gompi_ring_wait).
	gompi_store_release(&cell->turn, lap(pos) + TURN_FILLED);
	if (!reply)
		return MPI_SUCCESS;
	int process = gompi_on_node(peer);
	gompi_ring_doorbell(process);
	struct turn_wait t = {cell, lap(pos) + TURN_ANSWERED};
	struct gompi_waiting what = {
		.call = call, .peer = peer, .object = w->handle, .lost = loss_of_target, .of = &peer};
	int rc = MPI_SUCCESS, looks = 0, most = gompi_node.policy.oversubscribed ? 0 : GOMPI_ACK_LOOKS;
	while (looks < most && !turn_reached(&t))
		looks++;
	if (looks == most)
		rc = gompi_await(&gompi_my_cell()->wait, turn_reached, &t, &what);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = cell->answer.class;
	if (rc != MPI_SUCCESS)
		read_reason(&cell->answer);
	else if (result != NULL)
		gompi_copy_in(result, cell->answer.data, bytes);
	gompi_store_release(&cell->turn, lap(pos) + TURN_NEXT);
	gompi_wake(&ring_of(process)->space);
	// All packets sent before this one have been applied before it. Unless more has been sent since, nothing is
	// left to wait for: a flush need not fetch the cache line of acks to find that out.
	uint64_t this_one = pos + 1;
	gompi_change_once(last, &this_one, 0);
	return rc;
}

// Returns the array of the numbers last sent to each member; allocates it at first use. Returns NULL if out of memory.
static gompi_a64 *sent_numbers(struct gompi_win *w) {
	gompi_a64 *numbers = gompi_load_acquire(&w->sent);
	if (numbers != NULL)
		return numbers;
	gompi_a64 *mine = gompi_sparse_take(w->n * sizeof *mine);
	if (mine == NULL || gompi_change_once(&w->sent, &numbers, mine))
		return mine;
	gompi_sparse_give(mine, w->n * sizeof *mine); // another thread has installed its array first
	return numbers;
}

// Raises *last to number. Threads may record their numbers out of order, so a lower number never replaces a higher one.
static inline void note_sent(gompi_a64 *last, uint64_t number) {
	uint64_t sent = gompi_load(last);
	while (sent < number && !gompi_change(last, &sent, number))
		;
}

// Sends one packet, and sets *pos to its position.
static int send_at(struct gompi_win *w, struct gompi_outgoing *o, uint64_t *pos) {
	const struct gompi_operation *operation = o->operation;
	int peer = gompi_member(w, operation->target)->peer;
	gompi_a64 *numbers = sent_numbers(w);
	if (numbers == NULL)
		return MPI_ERR_NO_MEM;
	struct gompi_ring_cell *cell = take_cell(w, operation->call, peer, pos);
	if (cell == NULL)
		return MPI_ERR_PROC_ABORTED;
	gompi_packet_write(&cell->packet, w, o, GOMPI_PACKET_DATA, GOMPI_PACKET_DATA);
	gompi_a64 *last = &numbers[operation->target];
	note_sent(last, *pos + 1);
	if (!(gompi_load(&w->flush_more) & FLUSH_SENT))
		gompi_or(&w->flush_more, FLUSH_SENT);
	return publish(w, operation->call, peer, cell, *pos, last, o->reply, o->result, o->bytes);
}

int gompi_ring_send_one(struct gompi_win *w, struct gompi_outgoing *o) {
	uint64_t pos;
	return send_at(w, o, &pos);
}

int gompi_ring_send(struct gompi_win *w, const struct gompi_outgoing *whole) {
	for (uint64_t done = 0; done < whole->bytes;) {
		struct gompi_outgoing o = gompi_outgoing_rest(whole, done);
		int rc = gompi_ring_send_one(w, &o);
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

// Waits until peer has applied the packets of this process up to number.
static int wait_for(struct gompi_win *w, int peer, uint64_t number, const char *call) {
	int process = gompi_on_node(peer);
	struct ack_wait a = {&gompi_my_cell()->acks[process], number};
	if (acknowledged(&a))
		return MPI_SUCCESS;
	// Polls for a while: the target may soon serve its ring by itself, which is quicker than waking its progress
	// thread. It also serves this process' ring, since the target may wait for this process in the same way.
	for (int i = gompi_node.policy.oversubscribed ? GOMPI_ACK_LOOKS : 0; i < GOMPI_ACK_LOOKS; i++) {
		if (acknowledged(&a))
			return MPI_SUCCESS;
		if (i % 8 == 7)
			gompi_serve();
	}
	gompi_ring_doorbell(process);
	struct gompi_waiting what = {.call = call, .peer = peer, .object = w->handle};
	return gompi_await(&gompi_my_cell()->wait, acknowledged, &a, &what);
}

int gompi_ring_wait(struct gompi_win *w, int target, const char *call) {
	gompi_a64 *numbers = gompi_load_acquire(&w->sent);
	if (numbers == NULL)
		return MPI_SUCCESS;
	int first = target == GOMPI_ALL ? 0 : gompi_win_index(w, target),
	    end = target == GOMPI_ALL ? w->local_n : first + 1, rc = MPI_SUCCESS;
	for (int i = first; i < end && rc == MPI_SUCCESS; i++) {
		int rank = gompi_win_local(w, i), peer = gompi_member(w, rank)->peer;
		uint64_t number;
		// Results are copied out one after another, while the target fills the next buffer.
		while (rc == MPI_SUCCESS && gompi_bounce_due(peer, &number) &&
		       (rc = wait_for(w, peer, number, call)) == MPI_SUCCESS)
			rc = gompi_bounce_collect();
		number = gompi_load(&numbers[rank]);
		if (number != 0 && rc == MPI_SUCCESS)
			rc = wait_for(w, peer, number, call);
	}
	return rc == MPI_SUCCESS ? gompi_bounce_collect() : rc;
}

bool gompi_ring_complete(struct gompi_win *w, int target, const char *call, int *class) {
	int peer = gompi_member(w, target)->peer, process = gompi_on_node(peer);
	gompi_a64 *numbers = gompi_load_acquire(&w->sent);
	uint64_t number = numbers == NULL ? 0 : gompi_load(&numbers[target]), pos;
	struct ack_wait a = {&gompi_my_cell()->acks[process], number};
	if (number == 0 || acknowledged(&a) || gompi_bounce_due(peer, &pos))
		return false;
	struct gompi_ring_cell *cell = take_cell(w, call, peer, &pos);
	*class = cell == NULL ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
	if (cell == NULL)
		return true;
	cell->packet = (struct gompi_packet){
		.head.window = (uint32_t)w->handle, .origin = gompi_node.self, .head.kind = PACKET_COMPLETE};
	note_sent(&numbers[target], pos + 1); // so that the window is not freed before the packet has been applied
	gompi_store_release(&cell->turn, lap(pos) + TURN_FILLED);
	// The target serves its ring while it waits for this packet. Its progress thread is needed only if the target
	// sleeps already. Before it sleeps, the target serves its ring once more after a barrier, which pairs with
	// gompi_wake_fence. Otherwise it could sleep with the packet in the ring while this thread sees it awake.
	gompi_wake_fence();
	if (gompi_load(&gompi_member(w, target)->exposure_wait.sleeping) != 0)
		gompi_ring_doorbell(process);
	return true;
}

// Takes a bounce buffer; blocks until one is free. Returns -1 if a process has failed.
static int take_bounce(struct gompi_win *w, const char *call) {
	int buffer, peer;
	uint64_t number;
	while ((buffer = gompi_bounce_take(&peer, &number)) < 0)
		if (peer < 0)
			sched_yield(); // another thread is about to send the packet of the oldest buffer
		else if (wait_for(w, peer, number, call) != MPI_SUCCESS)
			return -1;
	return buffer;
}

int gompi_ring_send_bounced(struct gompi_win *w, const struct gompi_outgoing *whole, struct gompi_ongoing *ongoing) {
	int peer = gompi_member(w, whole->operation->target)->peer, rc = MPI_SUCCESS;
	const uint64_t most = GOMPI_BOUNCE_DATA / whole->element * whole->element;
	for (uint64_t done = 0, pos; done < whole->bytes && rc == MPI_SUCCESS;) {
		struct gompi_outgoing o = gompi_outgoing_rest(whole, done);
		int buffer = take_bounce(w, o.operation->call);
		if (buffer < 0)
			return MPI_ERR_PROC_ABORTED;
		void *result = o.result;
		o.bytes = o.bytes < most ? o.bytes : most;
		if (o.origin != NULL) {
			gompi_copy_out(gompi_bounce_data(buffer), o.origin, o.bytes);
			o.origin = gompi_bounce_address(buffer);
		}
		o.result = result != NULL ? gompi_bounce_address(buffer) : NULL;
		rc = send_at(w, &o, &pos);
		if (rc == MPI_SUCCESS && ongoing != NULL)
			gompi_ongoing_by_ring(ongoing, gompi_on_node(peer));
		if (rc == MPI_SUCCESS)
			gompi_bounce_sent(buffer, peer, pos + 1, result, o.bytes, ongoing);
		else
			gompi_bounce_drop(buffer);
		done += o.bytes;
	}
	return rc;
}

// --- At the target

static bool filled(void) {
	struct gompi_ring *ring = ring_of(gompi_node.me);
	uint64_t pos = gompi_load(&ring->head);
	return gompi_load_total(&cell_at(ring, pos)->turn) == lap(pos) + TURN_FILLED;
}

// Stores the error in the bounce buffer of a _PULL packet that was not applied.
static void refuse_pulled(const struct gompi_packet *m, int class) {
	const struct gompi_packet_pull *p = (const struct gompi_packet_pull *)m->data;
	if (m->head.length >= sizeof *p)
		gompi_bounce_refuse(m->origin, p->origin != 0 ? p->origin : p->result, class);
}

// Handles a PACKET_COMPLETE: an origin has ended its access epoch.
static int take_complete(const struct gompi_packet *m) {
	struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)m->head.window);
	if (w == NULL)
		return gompi_because(MPI_ERR_WIN, WHY_WINDOW, m->head.window, (uint64_t)m->origin);
	gompi_member_completed(gompi_member(w, w->me));
	return MPI_SUCCESS;
}

// Serves until the ring is empty. Only the thread that holds the flag `serving` calls it.
static void apply_all(struct gompi_ring *ring) {
	// Packets are applied from a private copy, because another process may write the cell. The copy has the same
	// alignment to cache lines.
	static _Alignas(GOMPI_LINE) char copy[GOMPI_RING_CELL];
	struct gompi_packet *m = &((struct gompi_ring_cell *)copy)->packet;
	for (;;) {
		uint64_t pos = gompi_load(&ring->head);
		struct gompi_ring_cell *c = cell_at(ring, pos);
		if (gompi_load_acquire(&c->turn) != lap(pos) + TURN_FILLED)
			return;
		memcpy(m, &c->packet, sizeof *m);
		// keeps the compiler from reading the cell again: decisions use the validated copy only
		gompi_compiler_fence();
		if (m->head.length > GOMPI_PACKET_DATA)
			m->head.length = 0; // invalid length: the packet is rejected because its data is missing
		gompi_copy_few(m->data, c->packet.data, m->head.length);
		int rc = m->head.kind == PACKET_COMPLETE
				 ? take_complete(m)
				 : gompi_packet_apply(m, c->packet.data, GOMPI_PACKET_DATA, gompi_bounce_move);
		int origin = gompi_on_node(m->origin);
		if (rc != MPI_SUCCESS && gompi_packet_pulls(m->head.kind & ~(PACKET_LAYOUT | PACKET_IN_ORDER)))
			refuse_pulled(m, rc);
		if (m->head.flags) {
			c->answer.class = (uint16_t)rc;
			if (rc != MPI_SUCCESS)
				write_reason(&c->answer, rc);
			gompi_store_release(&c->turn, lap(pos) + TURN_ANSWERED);
		}
		// Release: the effects of the operation come before; pairs with the acquire in acknowledged. This store
		// comes before that of the cell's turn: the origin waits for it, while usually no thread waits for the
		// cell, whose line must be fetched first.
		if (origin >= 0)
			gompi_store_release(&gompi_cell(origin)->acks[gompi_node.me], pos + 1);
		gompi_store(&ring->head, pos + 1);
		if (!m->head.flags)
			gompi_store_release(&c->turn, lap(pos) + TURN_NEXT);
		if (origin >= 0)
			gompi_wake_two(&gompi_cell(origin)->wait, &ring->space);
	}
}

bool gompi_ring_serve(void) {
	static atomic_flag serving = ATOMIC_FLAG_INIT;
	bool worked = false;
	// A thread that finds the flag taken returns. So the holder checks the ring once more after it has released the
	// flag; otherwise a packet published in between could be left.
	while (filled() && !gompi_flag_take(&serving)) {
		apply_all(ring_of(gompi_node.me));
		worked = true;
		gompi_flag_give(&serving);
	}
	return worked;
}

// --- Recovery after a failed process

// Returns the position plus 1 of the next cell of a process' ring if it has been taken but not filled, otherwise zero.
// If the cell still holds an answer that its failed origin has not taken, frees the cell for the process that has taken
// the next lap.
static uint64_t unfilled(int process) {
	struct gompi_ring *ring = ring_of(process);
	uint64_t pos = gompi_load_total(&ring->head);
	struct gompi_ring_cell *c = cell_at(ring, pos);
	uint64_t turn = gompi_load_total(&c->turn), answered = lap(pos) - TURN_NEXT + TURN_ANSWERED;
	if (gompi_load_total(&ring->tail) <= pos || turn == lap(pos) + TURN_FILLED)
		return 0;
	if (pos >= GOMPI_RING_CELLS && turn == answered && gompi_is_lost(c->packet.origin)) {
		gompi_change_total(&c->turn, &answered, lap(pos) + TURN_FREE);
		gompi_wake(&ring->space);
		return 0;
	}
	return pos + 1;
}

// Returns the process of member i of a window, for reports about waits.
static int window_member(uint64_t object, int i) {
	const struct gompi_win *w = gompi_win_get((MPI_Win)(uintptr_t)object);
	return w == NULL || (uint32_t)i >= w->n ? -1 : gompi_win_peer(w, i);
}

void gompi_ring_open(void) {
	static const struct gompi_service service = {.ready = filled,
						     .serve = gompi_ring_serve,
						     .member = window_member,
						     .tell = gompi_win_tell,
						     .stuck = unfilled};
	gompi_service_add(&service);
}
