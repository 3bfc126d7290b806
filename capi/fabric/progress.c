#include "fabric/progress.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "base/sanitizer.h"
#include "base/wait.h"
#include "fabric/doorbell.h"
#include "fabric/peer.h"

enum {
	RECEIVE_BUFFERS = 32, // number of receive buffers that are kept posted, for all senders together
	CQ_BATCH = 16,        // maximum number of completions that are read at once
	RETRY_POLLS = 16,     // number of polls without completions between two retries (poll_once)
};

// Used by the serving thread only. The list `unposted` holds the empty receive buffers that must be posted again. The
// variable missing_buffers is the number of receive buffers that hold out-of-order frames and have not been replaced
// yet.
static struct gompi_frame *unposted;
static int missing_buffers;

static atomic_flag is_polling = ATOMIC_FLAG_INIT; // set while a thread is the serving thread

// Posts the buffers of the list `unposted`. The caller holds gompi_net.lock. Returns 0 or an error of libfabric.
static int post_unposted(void) {
	struct gompi_frame *f;
	while ((f = unposted) != NULL) {
		f->op.kind = GOMPI_NET_OP_RECEIVE;
		ssize_t rc =
			fi_recv(gompi_net.ep, f->bytes, sizeof f->bytes, f->descriptor, FI_ADDR_UNSPEC, &f->op.context);
		if (rc != 0)
			return (int)rc;
		unposted = f->next;
	}
	return 0;
}

int gompi_net_post_receives(void) {
	gompi_flag_clear(&is_polling); // gompi_net_stop_polling has left it set
	missing_buffers = 0;
	unposted = NULL; // drops buffers of a previous provider
	for (int i = 0; i < RECEIVE_BUFFERS; i++) {
		struct gompi_frame *f = gompi_frame_alloc();
		if (f == NULL)
			return -FI_ENOMEM;
		f->next = unposted;
		unposted = f;
	}
	gompi_net_lock();
	int rc = post_unposted();
	gompi_net_unlock();
	return rc == -FI_EAGAIN ? 0 : rc;
}

// Passes the records of the peer's next frame to their ports.
static void deliver_next(struct gompi_peer *p, struct gompi_frame *f) {
	gompi_add(&gompi_net_counts.frames_received, 1);
	// This store precedes the handling of the records, so that replies to them carry this acknowledgement.
	gompi_store(&p->frames_received, ++p->next_sequence);
	gompi_frame_deliver(p->rank, f->bytes);
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

// Handles a frame of `length` bytes. Drops invalid frames. Delivers frames in the order of their numbers, because a
// provider may report a short message before an earlier long message. Returns true if the buffer is free again.
static bool handle_frame(struct gompi_frame *f, size_t length) {
	const struct gompi_frame_head *h = gompi_frame_head_of(f);
	int class;
	struct gompi_peer *p;
	if (gompi_frame_error(f->bytes, length) != NULL || (p = gompi_peer_get((int)h->source, &class)) == NULL ||
	    (h->kind == GOMPI_FRAME_RECORDS && h->sequence - p->next_sequence >= GOMPI_SEND_WINDOW)) {
		gompi_add(&gompi_net_counts.frames_dropped, 1);
		return true;
	}
	gompi_store(&p->activity_seen, 1);
	gompi_peer_on_ack(p, h->received);
	if (h->kind == GOMPI_FRAME_PROBE)
		gompi_peer_send_ack(p, true);
	if (h->kind != GOMPI_FRAME_RECORDS)
		return true;
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

// Handles a completion. The argument `error` is 0 or an error of libfabric.
static void handle_completion(struct gompi_net_op *op, size_t length, int error) {
	if (op == NULL)
		return; // an internal error of the provider
	struct gompi_frame *f = (struct gompi_frame *)op;
	struct gompi_peer *p;
	switch (op->kind) {
	case GOMPI_NET_OP_SEND:
		p = gompi_peer_find(f->peer);
		if (error != 0)
			gompi_peer_mark_failed(p);
		gompi_sub(&p->sends_in_flight, 1);
		gompi_frame_free(f);
		break;
	case GOMPI_NET_OP_RECEIVE:
		if (error != 0)
			gompi_add(&gompi_net_counts.frames_dropped, 1);
		else if (!handle_frame(f, length)) {
			missing_buffers++;
			break;
		}
		f->next = unposted;
		unposted = f;
		break;
	case GOMPI_NET_OP_SEGMENT:
		gompi_segment_done(op, error);
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

// Reads an error completion of the provider, and handles it as a completion with this error.
static void read_cq_error(void) {
	struct fi_cq_err_entry e = {0};
	gompi_net_lock();
	ssize_t n = fi_cq_readerr(gompi_net.cq, &e, 0);
	gompi_net_unlock();
	if (n > 0)
		handle_completion(e.op_context, 0, e.err != 0 ? e.err : FI_EOTHER);
}

static bool poll_once(void) {
	static int idle_polls; // consecutive polls that found nothing; serving thread only
	bool worked = false;
	// An operation that the provider could not accept may succeed after the provider has made progress, so retry
	// after each poll that found something. After other polls, retry only once every RETRY_POLLS polls, so that
	// other threads get the locks.
	if (idle_polls % RETRY_POLLS == 0)
		worked = gompi_peers_retry();

	worked = gompi_transfers_call_done() || worked;
	struct fi_cq_msg_entry e[CQ_BATCH];
	if (__builtin_expect(missing_buffers > 0, 0)) // an allocation failed before
		replace_buffers();
	if (!gompi_net_try_lock())
		return worked;
	if (unposted != NULL)
		post_unposted();
	ssize_t n = fi_cq_read(gompi_net.cq, e, CQ_BATCH);
	gompi_net_unlock();
	idle_polls = n == -FI_EAGAIN ? idle_polls + 1 : 0;
	if (n == -FI_EAVAIL)
		read_cq_error();
	for (ssize_t i = 0; i < n; i++)
		handle_completion(e[i].op_context, e[i].len, 0);
	gompi_fabric_flush_batch();
	if (__builtin_expect(missing_buffers > 0, 0))
		replace_buffers();
	if (unposted != NULL && gompi_net_try_lock()) {
		post_unposted();
		gompi_net_unlock();
	}
	return worked || n > 0 || n == -FI_EAVAIL;
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
	if (gompi_net.fd < 0)
		return true;
	struct fid *on[] = {&gompi_net.cq->fid};
	gompi_net_lock();
	int rc = fi_trywait(gompi_net.fabric, on, 1);
	gompi_net_unlock();
	return rc == 0;
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
