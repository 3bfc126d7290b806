// Reads and writes of memory that peers have registered (RMA).
#include <stdlib.h>

#include "base/abi.h"
#include "base/clock.h"
#include "fabric/doorbell.h"
#include "fabric/peer.h"

// Maximum bytes of one operation of the network: DEVICE_SEGMENT_BYTES if the network has RDMA, else SEGMENT_BYTES. With
// RDMA, at most DEVICE_INFLIGHT_BYTES are in progress per peer. This limits the time that a probe (health.h) waits for
// earlier transfers.
enum { DEVICE_SEGMENT_BYTES = 2 << 20, DEVICE_INFLIGHT_BYTES = 4 << 20, SEGMENT_BYTES = 256 << 10 };

// Layout of gompi_transfer.internal.
struct transfer_state {
	struct gompi_transfer *next;   // next in the peer's transfer_queue, or in done_list
	uint64_t started_bytes;        // bytes passed to the network
	struct gompi_net_local *local; // registration of the local memory; NULL if none is needed
	int32_t segments;              // number of segments in progress
	int32_t class;                 // error class of the first failed segment; 0 if none
	// the transfer is in the peer's transfer_queue, because it is not completely started
	bool is_queued;
};
_Static_assert(sizeof(struct transfer_state) <= sizeof((struct gompi_transfer *)0)->internal,
	       "the state does not fit into a transfer");

static inline struct transfer_state *state_of(struct gompi_transfer *t) {
	return (struct transfer_state *)(void *)t->internal;
}

// A segment of a transfer in progress.
struct segment_op {
	struct gompi_net_op op;
	struct gompi_transfer *transfer;
	struct gompi_peer *peer;
	uint64_t bytes;
	int64_t lone_start_ns; // start time (ns) if no other segment was in progress at the start, else 0
	struct segment_op *next;
};

static struct {
	struct gompi_mutex lock;
	struct segment_op *free;
} segment_pool;

static struct segment_op *segment_alloc(void) {
	gompi_mutex_lock(&segment_pool.lock);
	struct segment_op *o = segment_pool.free;
	if (o != NULL)
		segment_pool.free = o->next;
	gompi_mutex_unlock(&segment_pool.lock);
	return o != NULL ? o : malloc(sizeof *o);
}

static void segment_free(struct segment_op *o) {
	gompi_mutex_lock(&segment_pool.lock);
	o->next = segment_pool.free;
	segment_pool.free = o;
	gompi_mutex_unlock(&segment_pool.lock);
}

// --- Transfers that have ended without a completion of the network: the serving thread calls their callback `done`

static struct gompi_transfer *_Atomic done_list;

static void enqueue_done(struct gompi_transfer *t) {
	struct gompi_transfer *first = gompi_load(&done_list);
	do
		state_of(t)->next = first;
	while (!gompi_cas_weak_seq_cst(&done_list, &first, t));
	gompi_net_wake_if_armed();
}

static void complete_transfer(struct gompi_transfer *t) {
	struct transfer_state *s = state_of(t);
	if (s->local != NULL) {
		gompi_net_lock();
		gompi_net.ops->unregister_local(s->local);
		gompi_net_unlock();
	}
	gompi_add(&gompi_net_counts.transfers, 1);
	t->done(t, s->class);
}

bool gompi_transfers_have_done(void) { return gompi_load_seq_cst(&done_list) != NULL; }

bool gompi_transfers_call_done(void) {
	if (gompi_load(&done_list) == NULL)
		return false;
	struct gompi_transfer *t = gompi_swap_seq_cst(&done_list, NULL);
	while (t != NULL) {
		struct gompi_transfer *next = state_of(t)->next;
		complete_transfer(t);
		t = next;
	}
	return true;
}

// --- Starting transfers

static void append_transfer(struct gompi_peer *p, struct gompi_transfer *t) {
	state_of(t)->is_queued = true;
	if (p->transfer_queue == NULL)
		p->transfer_queue = t;
	else
		state_of(p->transfer_queue_last)->next = t;
	p->transfer_queue_last = t;
}

// Removes the first transfer from p's transfer_queue.
static void dequeue_transfer(struct gompi_peer *p) {
	struct gompi_transfer *t = p->transfer_queue;
	p->transfer_queue = state_of(t)->next;
	state_of(t)->next = NULL;
	state_of(t)->is_queued = false;
}

// Passes the next `bytes` bytes of t to the network.
static enum gompi_net_error start_segment(struct gompi_peer *p, struct gompi_transfer *t, uint64_t bytes) {
	struct transfer_state *s = state_of(t);
	struct segment_op *o = segment_alloc();
	if (o == NULL)
		return NET_NO_MEM;
	*o = (struct segment_op){.op.kind = GOMPI_NET_OP_SEGMENT, .transfer = t, .peer = p, .bytes = bytes};
	if (gompi_load(&p->inflight_bytes) == 0)
		o->lone_start_ns = gompi_now_ns();
	gompi_net_lock();
	enum gompi_net_error error = NET_SUCCESS;
	if (gompi_net.needs_local && s->local == NULL)
		error = gompi_net.ops->register_local(t->local, t->bytes,
						      t->is_write ? NET_ACCESS_WRITE : NET_ACCESS_READ, &s->local);
	if (error == NET_SUCCESS)
		error = (t->is_write ? gompi_net.ops->write : gompi_net.ops->read)(
			p->rank, t->local + s->started_bytes, bytes, s->local, t->region.key,
			t->region.address + t->offset + s->started_bytes, &o->op);
	gompi_net_unlock();
	if (error != NET_SUCCESS) {
		segment_free(o);
		return error;
	}
	s->segments++;
	s->started_bytes += bytes;
	gompi_store(&p->inflight_bytes, gompi_load(&p->inflight_bytes) + bytes);
	return NET_SUCCESS;
}

static int transfer_class(enum gompi_net_error error) {
	return error == NET_NO_MEM ? MPI_ERR_NO_MEM : error == NET_PEER_FAILED ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER;
}

// --- Limits of bytes in progress

static uint64_t max_inflight_bytes(const struct gompi_peer *p) {
	return gompi_fabric_has_rdma ? DEVICE_INFLIGHT_BYTES : p->pace.limit_bytes;
}

static uint64_t next_segment_bytes(uint64_t bytes) {
	uint64_t max_bytes = gompi_fabric_has_rdma ? DEVICE_SEGMENT_BYTES : SEGMENT_BYTES;
	max_bytes = gompi_net.max_op_bytes < max_bytes ? gompi_net.max_op_bytes : max_bytes;
	return bytes < max_bytes ? bytes : max_bytes;
}

void gompi_transfers_start(struct gompi_peer *p) {
	struct gompi_transfer *t;
	while ((t = p->transfer_queue) != NULL) {
		struct transfer_state *s = state_of(t);
		if (s->class == MPI_SUCCESS && gompi_load(&p->has_failed) != 0)
			s->class = MPI_ERR_PROC_ABORTED;
		if (s->class == MPI_SUCCESS && s->started_bytes < t->bytes) {
			if (gompi_load(&p->inflight_bytes) >= max_inflight_bytes(p)) {
				gompi_pace_limit_reached(&p->pace, gompi_now_ns());
				return;
			}
			const enum gompi_net_error error =
				start_segment(p, t, next_segment_bytes(t->bytes - s->started_bytes));
			if (error == NET_AGAIN || (error == NET_NO_MEM && gompi_load(&p->inflight_bytes) > 0)) {
				gompi_peer_schedule_retry(p);
				return;
			}
			if (error == NET_SUCCESS && s->started_bytes < t->bytes)
				continue;
			if (error != NET_SUCCESS)
				s->class = transfer_class(error);
			if (s->class == MPI_ERR_PROC_ABORTED)
				gompi_peer_mark_failed(p);
		}
		dequeue_transfer(p);
		if (s->segments == 0)
			enqueue_done(t);
	}
}

bool gompi_fabric_has_rdma;

// Minimum bytes for which a transfer is used instead of records: DEVICE_MIN_BYTES with RDMA, else CPU_MIN_BYTES.
// Without RDMA, a transfer still saves the copies into and out of frames.
enum { DEVICE_MIN_BYTES = 8 << 10, CPU_MIN_BYTES = 24 << 10 };

bool gompi_fabric_use_rdma(uint64_t bytes) {
	return bytes >= (gompi_fabric_has_rdma ? DEVICE_MIN_BYTES : CPU_MIN_BYTES);
}

void gompi_fabric_transfer(struct gompi_transfer *t) {
	struct transfer_state *s = state_of(t);
	*s = (struct transfer_state){0};
	struct gompi_peer *p = gompi_peer_get(t->peer, &s->class);
	if (p == NULL) {
		enqueue_done(t);
		return;
	}
	s->class = MPI_SUCCESS;
	gompi_mutex_lock(&p->lock);
	append_transfer(p, t);
	gompi_transfers_start(p);
	gompi_mutex_unlock(&p->lock);
}

void gompi_segment_done(struct gompi_net_op *op, enum gompi_net_error error) {
	struct segment_op *o = (struct segment_op *)op;
	struct gompi_transfer *t = o->transfer;
	struct gompi_peer *p = o->peer;
	struct transfer_state *s = state_of(t);
	gompi_mutex_lock(&p->lock);
	const uint64_t inflight_bytes = gompi_load(&p->inflight_bytes) - o->bytes;
	gompi_store(&p->inflight_bytes, inflight_bytes);
	if (error == NET_SUCCESS && gompi_pace_needs_sample(&p->pace, o->lone_start_ns))
		gompi_pace_add_sample(&p->pace, o->bytes, o->lone_start_ns, inflight_bytes, gompi_now_ns());
	s->segments--;
	if (error == NET_SUCCESS)
		gompi_store(&p->activity_seen, 1);
	else if (s->class == MPI_SUCCESS)
		s->class = transfer_class(error);
	if (s->class == MPI_ERR_PROC_ABORTED)
		gompi_peer_mark_failed(p);
	// A transfer that is still in transfer_queue is completed by gompi_transfers_start, which starts no more
	// segments of a failed transfer.
	bool is_complete = s->segments == 0 && !s->is_queued;
	if (p->transfer_queue != NULL)
		gompi_transfers_start(p);
	gompi_mutex_unlock(&p->lock);
	segment_free(o);
	if (is_complete)
		complete_transfer(t);
}
