// Reads and writes of memory that peers have registered (RMA).
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>

#include "base/abi.h"
#include "base/clock.h"
#include "fabric/bell.h"
#include "fabric/load.h"
#include "fabric/peer.h"

// Maximum bytes of one provider operation, with and without a device. DEVICE_FLYING limits the bytes in progress per
// peer with a device, so that a heartbeat waits behind no more than that.
enum { DEVICE_PIECE = 2 << 20, DEVICE_FLYING = 4 << 20, PIECE = 256 << 10 };

// Layout of gompi_transfer.rest.
struct transfer_state {
	struct gompi_transfer *next; // in the list of the peer, or of ended transfers
	uint64_t started;            // bytes passed to the provider
	struct gompi_local *local;   // registration of the local memory; NULL if none is needed
	int32_t parts;               // number in progress
	int32_t class;
	bool listed; // in the list of the peer: not completely started
};
_Static_assert(sizeof(struct transfer_state) <= sizeof((struct gompi_transfer *)0)->rest, "rest of a transfer");

static inline struct transfer_state *state_of(struct gompi_transfer *t) {
	return (struct transfer_state *)(void *)t->rest;
}

// A part of a transfer, in progress.
struct gompi_part_op {
	struct gompi_op op;
	struct gompi_transfer *transfer;
	struct gompi_peer *peer;
	uint64_t bytes;
	int64_t first; // start time if nothing was in progress then; else 0
	struct gompi_part_op *next;
};

static struct {
	struct gompi_mutex lock;
	struct gompi_part_op *free;
} parts;

static struct gompi_part_op *get_part(void) {
	gompi_mutex_take(&parts.lock);
	struct gompi_part_op *o = parts.free;
	if (o != NULL)
		parts.free = o->next;
	gompi_mutex_give(&parts.lock);
	return o != NULL ? o : malloc(sizeof *o);
}

static void put_part(struct gompi_part_op *o) {
	gompi_mutex_take(&parts.lock);
	o->next = parts.free;
	parts.free = o;
	gompi_mutex_give(&parts.lock);
}

// --- Transfers that have ended without the provider: the serving thread calls their done

static struct gompi_transfer *_Atomic ended;

static void put_ended(struct gompi_transfer *t) {
	struct gompi_transfer *first = gompi_load(&ended);
	do
		state_of(t)->next = first;
	while (!gompi_change_total(&ended, &first, t));
	gompi_bell_stir();
}

static void end_transfer(struct gompi_transfer *t) {
	struct transfer_state *s = state_of(t);
	if (s->local != NULL) {
		gompi_net_take();
		gompi_local_unregister(s->local);
		gompi_net_give();
	}
	gompi_add(&gompi_net_counts.transfers, 1);
	t->done(t, s->class);
}

bool gompi_transfers_ended(void) { return gompi_load_total(&ended) != NULL; }

bool gompi_transfers_end(void) {
	if (gompi_load(&ended) == NULL)
		return false;
	struct gompi_transfer *t = gompi_swap_total(&ended, NULL);
	while (t != NULL) {
		struct gompi_transfer *next = state_of(t)->next;
		end_transfer(t);
		t = next;
	}
	return true;
}

// --- Starting transfers

static void append_transfer(struct gompi_peer *p, struct gompi_transfer *t) {
	state_of(t)->listed = true;
	if (p->waits == NULL)
		p->waits = t;
	else
		state_of(p->waits_last)->next = t;
	p->waits_last = t;
}

// Removes the first transfer from the list of the peer.
static void drop_transfer(struct gompi_peer *p) {
	struct gompi_transfer *t = p->waits;
	p->waits = state_of(t)->next;
	state_of(t)->next = NULL;
	state_of(t)->listed = false;
}

// Passes the next `bytes` bytes of t to the provider. Returns 0, or an error of libfabric.
static int start_part(struct gompi_peer *p, struct gompi_transfer *t, uint64_t bytes) {
	struct transfer_state *s = state_of(t);
	struct gompi_part_op *o = get_part();
	if (o == NULL)
		return -FI_ENOMEM;
	*o = (struct gompi_part_op){.op.kind = GOMPI_OP_PART, .transfer = t, .peer = p, .bytes = bytes};
	if (gompi_load(&p->flying) == 0)
		o->first = gompi_now_ns();
	gompi_net_take();
	ssize_t rc = 0;
	if (gompi_net.local_keys && s->local == NULL)
		rc = gompi_local_register(t->local, t->bytes, t->write ? FI_WRITE : FI_READ, &s->local);
	if (rc == 0) {
		struct iovec from = {t->local + s->started, bytes};
		struct fi_rma_iov to = {t->region.address + t->offset + s->started, bytes, t->region.key};
		void *descriptor = gompi_local_descriptor(s->local);
		struct fi_msg_rma m = {.msg_iov = &from,
				       .desc = &descriptor,
				       .iov_count = 1,
				       .addr = p->address,
				       .rma_iov = &to,
				       .rma_iov_count = 1,
				       .context = &o->op.context};
		rc = t->write ? fi_writemsg(gompi_net.ep, &m, FI_DELIVERY_COMPLETE | FI_COMPLETION)
			      : fi_readmsg(gompi_net.ep, &m, FI_COMPLETION);
	}
	gompi_net_give();
	if (rc != 0) {
		put_part(o);
		return (int)rc;
	}
	s->parts++;
	s->started += bytes;
	gompi_store(&p->flying, gompi_load(&p->flying) + bytes);
	return 0;
}

// Returns the MPI error class for an error of libfabric. Errors that a provider reports for an ended peer give
// MPI_ERR_PROC_ABORTED.
static int transfer_class(int error) {
	switch (error) {
	case FI_ENOMEM:
		return MPI_ERR_NO_MEM;
	case FI_ENOTCONN:
	case FI_ECONNRESET:
	case FI_ECONNREFUSED:
	case FI_ECONNABORTED:
	case FI_ECANCELED:
	case FI_ESHUTDOWN:
	case FI_ETIMEDOUT:
	case FI_EHOSTUNREACH:
	case FI_EIO:
		return MPI_ERR_PROC_ABORTED;
	default:
		return MPI_ERR_OTHER;
	}
}

// --- Limits of bytes in progress

static uint64_t most_flying(const struct gompi_peer *p) { return gompi_fabric_device ? DEVICE_FLYING : p->pace.most; }

static uint64_t piece_of(uint64_t bytes) {
	uint64_t most = gompi_fabric_device ? DEVICE_PIECE : PIECE;
	most = gompi_net.most < most ? gompi_net.most : most;
	return bytes < most ? bytes : most;
}

void gompi_transfers_start(struct gompi_peer *p) {
	struct gompi_transfer *t;
	while ((t = p->waits) != NULL) {
		struct transfer_state *s = state_of(t);
		if (s->class == MPI_SUCCESS && gompi_load(&p->gone) != 0)
			s->class = MPI_ERR_PROC_ABORTED;
		if (s->class == MPI_SUCCESS && s->started < t->bytes) {
			if (gompi_load(&p->flying) >= most_flying(p)) {
				gompi_pace_full(&p->pace, gompi_now_ns());
				return;
			}
			int rc = start_part(p, t, piece_of(t->bytes - s->started));
			if (rc == -FI_EAGAIN || (rc == -FI_ENOMEM && gompi_load(&p->flying) > 0)) {
				gompi_peer_retry(p);
				return;
			}
			if (rc == 0 && s->started < t->bytes)
				continue;
			if (rc != 0)
				s->class = transfer_class(-rc);
			if (s->class == MPI_ERR_PROC_ABORTED)
				gompi_peer_is_gone(p);
		}
		drop_transfer(p);
		if (s->parts == 0)
			put_ended(t);
	}
}

bool gompi_fabric_device;

// Minimum size for which a transfer is used instead of records, with and without a device. If processors move the data,
// a transfer saves the copies into and out of frames.
enum { DEVICE_FROM = 8 << 10, CALLS_FROM = 24 << 10 };

bool gompi_transfer_pays(uint64_t bytes) { return bytes >= (gompi_fabric_device ? DEVICE_FROM : CALLS_FROM); }

void gompi_fabric_transfer(struct gompi_transfer *t) {
	struct transfer_state *s = state_of(t);
	*s = (struct transfer_state){0};
	struct gompi_peer *p = gompi_peer_of(t->peer, &s->class);
	if (p == NULL) {
		put_ended(t);
		return;
	}
	s->class = MPI_SUCCESS;
	gompi_mutex_take(&p->lock);
	append_transfer(p, t);
	gompi_transfers_start(p);
	gompi_mutex_give(&p->lock);
}

void gompi_part_done(struct gompi_op *op, int error) {
	struct gompi_part_op *o = (struct gompi_part_op *)op;
	struct gompi_transfer *t = o->transfer;
	struct gompi_peer *p = o->peer;
	struct transfer_state *s = state_of(t);
	gompi_mutex_take(&p->lock);
	const uint64_t flying = gompi_load(&p->flying) - o->bytes;
	gompi_store(&p->flying, flying);
	if (error == 0 && gompi_pace_asks(&p->pace, o->first))
		gompi_pace_come(&p->pace, o->bytes, o->first, flying, gompi_now_ns());
	s->parts--;
	if (error == 0)
		gompi_store(&p->alive, 1);
	else if (s->class == MPI_SUCCESS)
		s->class = transfer_class(error);
	if (s->class == MPI_ERR_PROC_ABORTED)
		gompi_peer_is_gone(p);
	// A transfer that is still in the list of the peer ends in gompi_transfers_start, which starts no more of a
	// failed one.
	bool over = s->parts == 0 && !s->listed;
	if (p->waits != NULL)
		gompi_transfers_start(p);
	gompi_mutex_give(&p->lock);
	put_part(o);
	if (over)
		end_transfer(t);
}
