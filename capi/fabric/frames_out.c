// Sending frames: in order, and within the credits.
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/abi.h"
#include "base/wait.h"
#include "fabric/peer.h"
#include "tcp/tcp.h"

// Returns how many frames p may have in flight. Each peer continues on its own credits, so no wake-up is needed when
// the number of frames in flight to other peers drops.
static uint32_t window_now(void) {
	return gompi_load(&gompi_frames_under_way) < GOMPI_FRAMES_MANY ? GOMPI_WINDOW : GOMPI_WINDOW_CROWDED;
}

// Accounts for `more` acknowledged frames of p.
static void take_credit(struct gompi_peer *p, uint32_t more) {
	p->credited += more;
	gompi_sub(&gompi_frames_under_way, more);
}

// Passes a frame to the provider, which owns the buffer until the send completes.
static ssize_t give_place(struct gompi_peer *p, struct gompi_frame *f) {
	f->op.kind = GOMPI_OP_SEND;
	f->peer = p->rank;
	gompi_net_take();
	ssize_t rc = fi_send(gompi_net.ep, f->bytes, f->used, f->descriptor, p->address, &f->op.context);
	if (rc == 0)
		gompi_add(&p->out, 1);
	gompi_net_give();
	return rc;
}

// Completes the head of a frame and passes the frame to the provider. Returns 0, or an error of libfabric. On success
// the buffer no longer belongs to the caller.
static int give_frame(struct gompi_peer *p, struct gompi_frame *f) {
	struct gompi_frame_head *h = gompi_head(f);
	*h = (struct gompi_frame_head){.source = (uint32_t)gompi_node.self,
				       .destination = (uint32_t)p->rank,
				       .length = f->used,
				       .kind = GOMPI_FRAME_RECORDS,
				       .number = p->sent,
				       .taken = gompi_load(&p->taken)};
	h->tag = gompi_frame_tag(h);
	const uint32_t taken = h->taken;
	ssize_t rc;
	if (f->used <= gompi_net.inject) {
		gompi_net_take();
		rc = fi_inject(gompi_net.ep, f->bytes, f->used, p->address);
		gompi_net_give();
		if (rc == 0)
			gompi_frame_put(f);
	} else {
		rc = give_place(p, f);
	}
	if (rc == 0) {
		gompi_store(&p->told, taken);
		gompi_add(&gompi_net_counts.frames_sent, 1);
	}
	return (int)rc;
}

// Wakes the threads, and schedules the handlers, that wait for room.
static void tell_room(struct gompi_peer *p) {
	gompi_store(&p->blocked, 0);
	// between the store of blocked and the reads of sleepers and no_room. Without it, a thread that saw blocked set
	// and then goes to sleep could be missed.
	gompi_full_fence();
	gompi_wake_if_asleep(&p->room);
	if (gompi_load(&p->no_room) != 0)
		gompi_peer_retry(p); // the serving thread calls the handlers
}

// Discards the frames of a failed peer, and wakes the threads that wait for room.
static void drop_frames(struct gompi_peer *p) {
	struct gompi_frame *f;
	while ((f = p->first) != NULL) {
		p->first = f->next;
		gompi_frame_put(f);
	}
	p->last = NULL;
	if (p->open != NULL)
		gompi_frame_put(p->open);
	p->open = NULL;
	take_credit(p, p->sent - p->credited);
	tell_room(p);
}

// Appends the open frame to the queue of waiting frames.
static void close_frame(struct gompi_peer *p) {
	struct gompi_frame *f = p->open;
	p->open = NULL;
	f->next = NULL;
	if (p->first == NULL)
		p->first = f;
	else
		p->last->next = f;
	p->last = f;
}

void gompi_peer_send(struct gompi_peer *p) {
	if (gompi_load(&p->gone) != 0) {
		drop_frames(p);
		return;
	}
	for (;;) {
		if (p->first == NULL) {
			bool hurry = p->hurry;
			p->hurry = false;
			if (!hurry || p->open == NULL)
				break;
			close_frame(p);
		}
		if (p->sent - p->credited >= window_now())
			break;
		struct gompi_frame *f = p->first, *next = f->next;
		int rc = give_frame(p, f);
		if (rc == -FI_EAGAIN) {
			gompi_peer_retry(p);
			break;
		}
		if (rc != 0) {
			gompi_peer_is_gone(p);
			drop_frames(p);
			return;
		}
		p->sent++;
		gompi_add(&gompi_frames_under_way, 1);
		p->first = next;
	}
	if (p->first != NULL)
		gompi_store(&p->blocked, 1);
	else if (gompi_load(&p->blocked) != 0)
		tell_room(p);
}

void gompi_peer_credit(struct gompi_peer *p, uint32_t taken) {
	gompi_mutex_take(&p->lock);
	const uint32_t more = taken - p->credited;
	// A frame that another one has overtaken carries an older count: `more` wraps around, and is ignored as too
	// large.
	if (more != 0 && more <= p->sent - p->credited) {
		take_credit(p, more);
		gompi_peer_send(p);
	}
	gompi_mutex_give(&p->lock);
}

// Sends a frame that is only a head. The caller holds p's lock. Returns 0, or an error of libfabric.
static int give_head(struct gompi_peer *p, enum gompi_frame_kind kind) {
	const uint32_t taken = gompi_load(&p->taken);
	struct gompi_frame_head h = {.source = (uint32_t)gompi_node.self,
				     .destination = (uint32_t)p->rank,
				     .length = sizeof h,
				     .kind = kind,
				     .taken = taken};
	h.tag = gompi_frame_tag(&h);
	ssize_t rc = -FI_EAGAIN;
	if (sizeof h <= gompi_net.inject) {
		gompi_net_take();
		rc = fi_inject(gompi_net.ep, &h, sizeof h, p->address);
		gompi_net_give();
	} else {
		struct gompi_frame *f = gompi_frame_get();
		if (f != NULL) {
			*gompi_head(f) = h;
			f->used = sizeof h;
			rc = give_place(p, f);
			if (rc != 0)
				gompi_frame_put(f);
		}
	}
	if (rc == 0)
		gompi_store(&p->told, taken);
	return (int)rc;
}

void gompi_peer_tell(struct gompi_peer *p, bool asked) {
	if (!asked && gompi_load(&p->taken) - gompi_load(&p->told) < GOMPI_OWED)
		return;
	gompi_mutex_take(&p->lock);
	int rc = gompi_load(&p->gone) != 0 ? 0 : give_head(p, GOMPI_FRAME_CREDITS);
	p->owes_answer = asked && rc == -FI_EAGAIN;
	gompi_mutex_give(&p->lock);
	if (rc == 0)
		gompi_add(&gompi_net_counts.credits_sent, 1);
	else if (rc == -FI_EAGAIN)
		gompi_peer_retry(p);
	else
		gompi_peer_is_gone(p);
}

enum gompi_asked gompi_peer_ask(struct gompi_peer *p) {
	gompi_mutex_take(&p->lock);
	int rc = give_head(p, GOMPI_FRAME_ASK);
	bool under_way = gompi_load(&p->out) > 0 || gompi_load(&p->flying) > 0;
	gompi_mutex_give(&p->lock);
	if (gompi_net.own && rc == 0) { // the TCP provider accepts frames that it may never be able to send
		gompi_net_take();
		bool refused = gompi_tcp_refused(p->rank);
		gompi_net_give();
		return refused ? GOMPI_REFUSED : GOMPI_ASKED;
	}
	if (rc != 0 && rc != -FI_EAGAIN)
		gompi_peer_is_gone(p);
	return rc == 0 ? GOMPI_ASKED : under_way ? GOMPI_BUSY : GOMPI_REFUSED;
}

int gompi_peer_open_frame(struct gompi_peer *p, enum gompi_fabric_wait wait) {
	if (p->open != NULL) {
		if (p->first != NULL && wait != FABRIC_ANSWER)
			return MPI_ERR_PENDING;
		close_frame(p);
		gompi_peer_send(p);
	}
	if (p->first != NULL && wait != FABRIC_ANSWER)
		return MPI_ERR_PENDING;
	struct gompi_frame *f = gompi_frame_get();
	if (f == NULL)
		return MPI_ERR_NO_MEM;
	f->used = sizeof(struct gompi_frame_head);
	p->open = f;
	return MPI_SUCCESS;
}
