// Sends frames in order, within the limit of the credits.
#include "base/abi.h"
#include "base/wait.h"
#include "fabric/peer.h"

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

// Passes a frame to the network. On success the buffer no longer belongs to the caller.
static enum gompi_net_error post_frame(struct gompi_peer *p, struct gompi_frame *f) {
	const bool inject = f->used_bytes <= gompi_net.inject_bytes;
	enum gompi_net_error error;
	f->op.kind = GOMPI_NET_OP_SEND;
	f->peer = p->rank;
	gompi_net_lock();
	if (inject) {
		error = gompi_net.ops->inject(p->rank, f->bytes, f->used_bytes);
	} else {
		error = gompi_net.ops->send(p->rank, f->bytes, f->used_bytes, f->local, &f->op);
		if (error == NET_SUCCESS)
			gompi_add(&p->sends_in_flight, 1);
	}
	gompi_net_unlock();
	if (inject && error == NET_SUCCESS)
		gompi_frame_free(f);
	return error;
}

// Completes the head of a frame with records and passes the frame to the network. On success the buffer no longer
// belongs to the caller.
static enum gompi_net_error send_frame(struct gompi_peer *p, struct gompi_frame *f) {
	const uint32_t received = gompi_load(&p->frames_received);
	*gompi_frame_head_of(f) = (struct gompi_frame_head){.sequence = p->frames_sent, .received = received};
	const enum gompi_net_error error = post_frame(p, f);
	if (error == NET_SUCCESS) {
		gompi_store(&p->acks_sent, received);
		gompi_add(&gompi_net_counts.frames_sent, 1);
	}
	return error;
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
		const enum gompi_net_error error = send_frame(p, f);
		if (error == NET_AGAIN) {
			gompi_peer_schedule_retry(p);
			break;
		}
		if (error != NET_SUCCESS) {
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

gompi_a32 gompi_delivery_awaited;

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
	if (__builtin_expect(gompi_load(&gompi_delivery_awaited) != 0, 0)) {
		gompi_store(&gompi_delivery_awaited, 0);
		gompi_wake(&gompi_my_cell()->wait);
	}
}

// Sends a frame without records. The caller holds p's lock.
static enum gompi_net_error send_head(struct gompi_peer *p, enum gompi_frame_request request) {
	const uint32_t received = gompi_load(&p->frames_received);
	struct gompi_frame *f = gompi_frame_alloc();
	if (f == NULL)
		return NET_AGAIN;
	*gompi_frame_head_of(f) = (struct gompi_frame_head){.sequence = request, .received = received};
	f->used_bytes = sizeof(struct gompi_frame_head);
	const enum gompi_net_error error = post_frame(p, f);
	if (error == NET_SUCCESS)
		gompi_store(&p->acks_sent, received);
	else
		gompi_frame_free(f);
	return error;
}

void gompi_peer_send_ack(struct gompi_peer *p, bool is_probe) {
	if (!is_probe && gompi_load(&p->frames_received) - gompi_load(&p->acks_sent) < GOMPI_ACK_FRAMES)
		return;
	gompi_mutex_lock(&p->lock);
	const enum gompi_net_error error =
		gompi_load(&p->has_failed) != 0 ? NET_SUCCESS : send_head(p, GOMPI_FRAME_CREDITS);
	p->reply_pending = is_probe && error == NET_AGAIN;
	gompi_mutex_unlock(&p->lock);
	if (error == NET_SUCCESS)
		gompi_add(&gompi_net_counts.credits_sent, 1);
	else if (error == NET_AGAIN)
		gompi_peer_schedule_retry(p);
	else
		gompi_peer_mark_failed(p);
}

enum gompi_probe_result gompi_peer_probe(struct gompi_peer *p) {
	gompi_mutex_lock(&p->lock);
	const enum gompi_net_error error = send_head(p, GOMPI_FRAME_PROBE);
	bool is_sending = gompi_load(&p->sends_in_flight) > 0 || gompi_load(&p->inflight_bytes) > 0;
	gompi_mutex_unlock(&p->lock);
	if (error == NET_SUCCESS && gompi_net.ops->is_refused != NULL) {
		gompi_net_lock();
		bool refused = gompi_net.ops->is_refused(p->rank);
		gompi_net_unlock();
		return refused ? GOMPI_PROBE_REFUSED : GOMPI_PROBE_SENT;
	}
	if (error != NET_SUCCESS && error != NET_AGAIN)
		gompi_peer_mark_failed(p);
	return error == NET_SUCCESS ? GOMPI_PROBE_SENT : is_sending ? GOMPI_PROBE_BUSY : GOMPI_PROBE_REFUSED;
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
