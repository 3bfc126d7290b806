// Sends frames in order, within the limit of the credits.
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/abi.h"
#include "base/wait.h"
#include "fabric/peer.h"
#include "tcp/tcp.h"

// Returns the maximum number of unacknowledged frames to a peer (the window). While many frames to all peers together
// are unacknowledged, the window is smaller. So it may grow when another peer acknowledges frames. This need not start
// a send: a peer whose window is full still has frames to acknowledge, and each acknowledgement causes the next frames
// to be sent.
static uint32_t current_window(void) {
	return gompi_load(&gompi_frames_in_flight) < GOMPI_CROWDED_FRAMES ? GOMPI_SEND_WINDOW
									  : GOMPI_SEND_WINDOW_CROWDED;
}

// Counts `count` more frames to peer p as acknowledged.
static void count_acked(struct gompi_peer *p, uint32_t count) {
	p->frames_acked += count;
	gompi_sub(&gompi_frames_in_flight, count);
}

// Passes a frame to the provider. The provider owns the buffer until the send completes.
static ssize_t post_send(struct gompi_peer *p, struct gompi_frame *f) {
	f->op.kind = GOMPI_NET_OP_SEND;
	f->peer = p->rank;
	gompi_net_lock();
	ssize_t rc = fi_send(gompi_net.ep, f->bytes, f->used_bytes, f->descriptor, p->address, &f->op.context);
	if (rc == 0)
		gompi_add(&p->sends_in_flight, 1);
	gompi_net_unlock();
	return rc;
}

// Completes the head of a frame and passes the frame to the provider. Returns 0, or an error of libfabric. On success
// the buffer no longer belongs to the caller.
static int send_frame(struct gompi_peer *p, struct gompi_frame *f) {
	struct gompi_frame_head *h = gompi_frame_head_of(f);
	*h = (struct gompi_frame_head){.source = (uint32_t)gompi_node.self,
				       .destination = (uint32_t)p->rank,
				       .length = f->used_bytes,
				       .kind = GOMPI_FRAME_RECORDS,
				       .sequence = p->frames_sent,
				       .received = gompi_load(&p->frames_received)};
	h->mac = gompi_frame_mac(h);
	const uint32_t received = h->received;
	ssize_t rc;
	if (f->used_bytes <= gompi_net.inject_bytes) {
		gompi_net_lock();
		rc = fi_inject(gompi_net.ep, f->bytes, f->used_bytes, p->address);
		gompi_net_unlock();
		if (rc == 0)
			gompi_frame_free(f);
	} else {
		rc = post_send(p, f);
	}
	if (rc == 0) {
		gompi_store(&p->acks_sent, received);
		gompi_add(&gompi_net_counts.frames_sent, 1);
	}
	return (int)rc;
}

// Wakes the threads that wait for space, and schedules the on_room handlers of the ports that wait for space.
static void notify_room(struct gompi_peer *p) {
	gompi_store(&p->blocked, 0);
	// Orders the store of `blocked` before the reads of the sleepers and of ports_waiting. Without this fence, the
	// code could miss a thread that has seen `blocked` set and then goes to sleep.
	gompi_full_fence();
	gompi_wake_if_asleep(&p->room_waiters);
	if (gompi_load(&p->ports_waiting) != 0)
		gompi_peer_schedule_retry(p); // the serving thread calls the handlers
}

// Discards the frames to a failed peer, and wakes the threads that wait for space.
static void drop_frames(struct gompi_peer *p) {
	struct gompi_frame *f;
	while ((f = p->queue_first) != NULL) {
		p->queue_first = f->next;
		gompi_frame_free(f);
	}
	p->queue_last = NULL;
	if (p->open_frame != NULL)
		gompi_frame_free(p->open_frame);
	p->open_frame = NULL;
	count_acked(p, p->frames_sent - p->frames_acked);
	notify_room(p);
}

// Appends the open frame to the queue of waiting frames.
static void close_frame(struct gompi_peer *p) {
	struct gompi_frame *f = p->open_frame;
	p->open_frame = NULL;
	f->next = NULL;
	if (p->queue_first == NULL)
		p->queue_first = f;
	else
		p->queue_last->next = f;
	p->queue_last = f;
}

void gompi_peer_send(struct gompi_peer *p) {
	if (gompi_load(&p->has_failed) != 0) {
		drop_frames(p);
		return;
	}
	for (;;) {
		if (p->queue_first == NULL) {
			bool flush = p->flush_requested;
			p->flush_requested = false;
			if (!flush || p->open_frame == NULL)
				break;
			close_frame(p);
		}
		if (p->frames_sent - p->frames_acked >= current_window())
			break;
		struct gompi_frame *f = p->queue_first, *next = f->next;
		int rc = send_frame(p, f);
		if (rc == -FI_EAGAIN) {
			gompi_peer_schedule_retry(p);
			break;
		}
		if (rc != 0) {
			gompi_peer_mark_failed(p);
			drop_frames(p);
			return;
		}
		p->frames_sent++;
		gompi_add(&gompi_frames_in_flight, 1);
		p->queue_first = next;
	}
	if (p->queue_first != NULL)
		gompi_store(&p->blocked, 1);
	else if (gompi_load(&p->blocked) != 0)
		notify_room(p);
}

void gompi_peer_on_ack(struct gompi_peer *p, uint32_t received) {
	gompi_mutex_lock(&p->lock);
	const uint32_t newly_acked = received - p->frames_acked;
	// A frame that arrives after a later frame carries an older count. newly_acked then wraps around to a large
	// number, and is ignored.
	if (newly_acked != 0 && newly_acked <= p->frames_sent - p->frames_acked) {
		count_acked(p, newly_acked);
		gompi_peer_send(p);
	}
	gompi_mutex_unlock(&p->lock);
}

// Sends a frame without records. The caller holds p's lock. Returns 0, or an error of libfabric.
static int send_head(struct gompi_peer *p, enum gompi_frame_kind kind) {
	const uint32_t received = gompi_load(&p->frames_received);
	struct gompi_frame_head h = {.source = (uint32_t)gompi_node.self,
				     .destination = (uint32_t)p->rank,
				     .length = sizeof h,
				     .kind = kind,
				     .received = received};
	h.mac = gompi_frame_mac(&h);
	ssize_t rc = -FI_EAGAIN;
	if (sizeof h <= gompi_net.inject_bytes) {
		gompi_net_lock();
		rc = fi_inject(gompi_net.ep, &h, sizeof h, p->address);
		gompi_net_unlock();
	} else {
		struct gompi_frame *f = gompi_frame_alloc();
		if (f != NULL) {
			*gompi_frame_head_of(f) = h;
			f->used_bytes = sizeof h;
			rc = post_send(p, f);
			if (rc != 0)
				gompi_frame_free(f);
		}
	}
	if (rc == 0)
		gompi_store(&p->acks_sent, received);
	return (int)rc;
}

void gompi_peer_send_ack(struct gompi_peer *p, bool is_probe) {
	if (!is_probe && gompi_load(&p->frames_received) - gompi_load(&p->acks_sent) < GOMPI_ACK_FRAMES)
		return;
	gompi_mutex_lock(&p->lock);
	int rc = gompi_load(&p->has_failed) != 0 ? 0 : send_head(p, GOMPI_FRAME_CREDITS);
	p->reply_pending = is_probe && rc == -FI_EAGAIN;
	gompi_mutex_unlock(&p->lock);
	if (rc == 0)
		gompi_add(&gompi_net_counts.credits_sent, 1);
	else if (rc == -FI_EAGAIN)
		gompi_peer_schedule_retry(p);
	else
		gompi_peer_mark_failed(p);
}

enum gompi_probe_result gompi_peer_probe(struct gompi_peer *p) {
	gompi_mutex_lock(&p->lock);
	int rc = send_head(p, GOMPI_FRAME_PROBE);
	bool is_sending = gompi_load(&p->sends_in_flight) > 0 || gompi_load(&p->inflight_bytes) > 0;
	gompi_mutex_unlock(&p->lock);
	if (gompi_net.is_builtin && rc == 0) { // the TCP provider accepts frames that it may never be able to send
		gompi_net_lock();
		bool refused = gompi_tcp_is_refused(p->rank);
		gompi_net_unlock();
		return refused ? GOMPI_PROBE_REFUSED : GOMPI_PROBE_SENT;
	}
	if (rc != 0 && rc != -FI_EAGAIN)
		gompi_peer_mark_failed(p);
	return rc == 0 ? GOMPI_PROBE_SENT : is_sending ? GOMPI_PROBE_BUSY : GOMPI_PROBE_REFUSED;
}

int gompi_peer_open_frame(struct gompi_peer *p, enum gompi_fabric_wait wait) {
	if (p->open_frame != NULL) {
		if (p->queue_first != NULL && wait != FABRIC_ANSWER)
			return MPI_ERR_PENDING;
		close_frame(p);
		gompi_peer_send(p);
	}
	if (p->queue_first != NULL && wait != FABRIC_ANSWER)
		return MPI_ERR_PENDING;
	struct gompi_frame *f = gompi_frame_alloc();
	if (f == NULL)
		return MPI_ERR_NO_MEM;
	f->used_bytes = sizeof(struct gompi_frame_head);
	p->open_frame = f;
	return MPI_SUCCESS;
}
