#include "fabric/progress.h"

#include "base/sanitizer.h"
#include "base/wait.h"
#include "fabric/doorbell.h"
#include "fabric/peer.h"

enum {
	RECEIVE_BUFFERS = 32, // number of receive buffers that are kept posted, for all senders together
	BATCH = 16,           // maximum number of completions that are read at once
	RETRY_POLLS = 16,     // number of polls without completions between two retries (poll_once)
};

// Used by the serving thread only. The list `unposted` holds the empty receive buffers that must be posted again. The
// variable missing_buffers is the number of receive buffers that hold out-of-order frames and have not been replaced
// yet.
static struct gompi_frame *unposted;
static int missing_buffers;

static atomic_flag is_polling = ATOMIC_FLAG_INIT; // set while a thread is the serving thread

// Posts the buffers of the list `unposted`, unless the network cannot accept them now. The caller holds gompi_net.lock.
static enum gompi_net_error post_unposted(void) {
	struct gompi_frame *f;
	while ((f = unposted) != NULL) {
		f->op.kind = GOMPI_NET_OP_RECEIVE;
		const enum gompi_net_error error =
			gompi_net.ops->post_receive(f->bytes, sizeof f->bytes, f->local, &f->op);
		if (error != NET_SUCCESS)
			return error;
		unposted = f->next;
	}
	return NET_SUCCESS;
}

bool gompi_net_post_receives(void) {
	gompi_flag_clear(&is_polling); // gompi_net_stop_polling has left it set
	missing_buffers = 0;
	unposted = NULL;
	for (int i = 0; i < RECEIVE_BUFFERS; i++) {
		struct gompi_frame *f = gompi_frame_alloc();
		if (f == NULL)
			return false;
		f->next = unposted;
		unposted = f;
	}
	gompi_net_lock();
	const enum gompi_net_error error = post_unposted();
	gompi_net_unlock();
	return error == NET_SUCCESS || error == NET_AGAIN;
}

// Passes the records of the peer's next frame to their ports.
static void deliver_next(struct gompi_peer *p, const struct gompi_frame *f) {
	gompi_add(&gompi_net_counts.frames_received, 1);
	// This store precedes the handling of the records, so that replies to them carry this acknowledgement.
	gompi_store(&p->frames_received, ++p->next_sequence);
	gompi_frame_deliver(p->rank, f->bytes, f->used_bytes);
}

// Queues a frame that has arrived before its predecessors. Returns false if it is a duplicate.
static bool insert_out_of_order(struct gompi_peer *p, struct gompi_frame *f) {
	struct gompi_frame **at = &p->out_of_order;
	const uint32_t ahead = gompi_frame_head_of(f)->sequence - p->next_sequence;
	while (*at != NULL && gompi_frame_head_of(*at)->sequence - p->next_sequence < ahead)
		at = &(*at)->next;
	if (*at != NULL && gompi_frame_head_of(*at)->sequence - p->next_sequence == ahead)
		return false;
	f->next = *at;
	*at = f;
	return true;
}

// Handles a frame of f->used_bytes bytes from a peer. Drops invalid frames. Delivers frames in the order of their
// numbers, because a network may report a short message before an earlier long message. Returns true if the buffer is
// free again.
static bool handle_frame(struct gompi_frame *f, int peer) {
	const struct gompi_frame_head *h = gompi_frame_head_of(f);
	const bool has_records = f->used_bytes > sizeof *h;
	int class;
	struct gompi_peer *p;
	if (gompi_frame_error(peer, f->bytes, f->used_bytes) != NULL || (p = gompi_peer_get(peer, &class)) == NULL ||
	    (has_records && h->sequence - p->next_sequence >= GOMPI_SEND_WINDOW)) {
		gompi_add(&gompi_net_counts.frames_dropped, 1);
		return true;
	}
	gompi_store(&p->activity_seen, 1);
	gompi_peer_on_ack(p, h->received);
	if (!has_records) {
		if (h->sequence == GOMPI_FRAME_PROBE)
			gompi_peer_send_ack(p, true);
		return true;
	}
	if (h->sequence != p->next_sequence) {
		if (insert_out_of_order(p, f))
			return false;
		gompi_add(&gompi_net_counts.frames_dropped, 1);
		return true;
	}
	deliver_next(p, f);
	while ((f = p->out_of_order) != NULL && gompi_frame_head_of(f)->sequence == p->next_sequence) {
		p->out_of_order = f->next;
		deliver_next(p, f);
		gompi_frame_free(f);
	}
	gompi_peer_send_ack(p, false);
	return true;
}

static void handle_completion(const struct gompi_net_completion *c) {
	struct gompi_frame *f = (struct gompi_frame *)c->op;
	struct gompi_peer *p;
	switch ((enum gompi_net_op_kind)c->op->kind) {
	case GOMPI_NET_OP_SEND:
		p = gompi_peer_find(f->peer);
		if (c->error != NET_SUCCESS)
			gompi_peer_mark_failed(p);
		gompi_sub(&p->sends_in_flight, 1);
		gompi_frame_free(f);
		break;
	case GOMPI_NET_OP_RECEIVE:
		f->used_bytes = (uint32_t)c->bytes;
		if (c->error != NET_SUCCESS)
			gompi_add(&gompi_net_counts.frames_dropped, 1);
		else if (!handle_frame(f, c->peer)) {
			missing_buffers++;
			break;
		}
		f->next = unposted;
		unposted = f;
		break;
	case GOMPI_NET_OP_SEGMENT:
		gompi_segment_done(c->op, c->error);
		break;
	}
}

// Allocates replacements for buffers with out-of-order frames, as far as memory permits.
static void replace_buffers(void) {
	struct gompi_frame *f;
	while (missing_buffers > 0 && (f = gompi_frame_alloc()) != NULL) {
		f->next = unposted;
		unposted = f;
		missing_buffers--;
	}
}

static bool poll_once(void) {
	static int idle_polls; // consecutive polls that found nothing; serving thread only
	bool worked = false;
	// An operation that the network could not accept may succeed after the network has made progress, so retry
	// after each poll that found something. After other polls, retry only once every RETRY_POLLS polls, so that
	// other threads get the locks.
	if (idle_polls % RETRY_POLLS == 0)
		worked = gompi_peers_retry();

	worked = gompi_transfers_call_done() || worked;
	struct gompi_net_completion completions[BATCH];
	if (__builtin_expect(missing_buffers > 0, 0)) // an allocation failed before
		replace_buffers();
	if (!gompi_net_try_lock())
		return worked;
	if (unposted != NULL)
		post_unposted();
	const int n = gompi_net.ops->poll(completions, BATCH);
	gompi_net_unlock();
	idle_polls = n == 0 ? idle_polls + 1 : 0;
	for (int i = 0; i < n; i++)
		handle_completion(&completions[i]);
	gompi_fabric_flush_batch();
	if (__builtin_expect(missing_buffers > 0, 0))
		replace_buffers();
	if (unposted != NULL && gompi_net_try_lock()) {
		post_unposted();
		gompi_net_unlock();
	}
	return worked || n > 0;
}

bool gompi_net_poll(void) {
	// A thread that finds is_polling set leaves no request to the polling thread, unlike in base/combining_lock.h.
	// If the polling thread misses something, the progress thread finds it, because it checks the completion queue
	// and all lists before it sleeps (arm_and_sleep).
	if (!gompi_fabric_is_open() || gompi_flag_test_and_set(&is_polling))
		return false;
	gompi_tsan_ignore_begin();
	bool worked = poll_once();
	gompi_tsan_ignore_end();
	gompi_flag_clear(&is_polling);
	return worked;
}

void gompi_net_stop_polling(void) {
	gompi_store_seq_cst(&gompi_fabric_open_flag, false);
	while (gompi_flag_test_and_set(&is_polling))
		gompi_pause();
}

bool gompi_fabric_progress(void) {
	if (!gompi_fabric_is_open())
		return false;
	gompi_net_app_polled();
	gompi_fabric_flush(-1); // this thread may wait for a reply to one of the queued records
	return gompi_net_poll();
}

bool gompi_net_may_sleep(void) {
	gompi_net_lock();
	const bool is_armed = gompi_net.ops->arm();
	gompi_net_unlock();
	return is_armed;
}

// --- The service that all waits call

static bool net_ready(void) { return gompi_fabric_is_open(); }

static void net_before_sleep(void) {
	gompi_fabric_flush(-1);
	gompi_net_app_sleeps();
}

// Sends queued records at the end of a wait. Does not poll again: the progress thread still makes rounds, and a poll
// would delay this thread's next record, for which a peer may wait.
static void net_wait_ends(void) {
	if (gompi_fabric_is_open())
		gompi_fabric_flush(-1);
}

void gompi_net_poll_in_waits(void) {
	static const struct gompi_service service = {.has_work = net_ready,
						     .serve = gompi_fabric_progress,
						     .on_long_wait = net_before_sleep,
						     .on_wait_end = net_wait_ends};
	gompi_service_add(&service);
}
