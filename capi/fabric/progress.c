#include "fabric/progress.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "base/sanitizer.h"
#include "base/wait.h"
#include "fabric/bell.h"
#include "fabric/peer.h"

enum {
	RECEIVES = 32, // receive buffers that are posted at any time, for all senders
	BATCH = 16,    // completions that are read at once
	RETRY_LOOKS = 16,
};

// unposted: empty receive buffers that the serving thread will post again. lacking: receive buffers that are missing,
// because their frames are kept and there was no memory for replacements.
static struct gompi_frame *unposted;
static int lacking;

static atomic_flag serving = ATOMIC_FLAG_INIT; // set while a thread is the serving thread

// Posts the buffers in unposted. The caller holds gompi_net.lock. Returns 0 or an error of libfabric.
static int post_receives(void) {
	struct gompi_frame *f;
	while ((f = unposted) != NULL) {
		f->op.kind = GOMPI_OP_RECEIVE;
		ssize_t rc =
			fi_recv(gompi_net.ep, f->bytes, sizeof f->bytes, f->descriptor, FI_ADDR_UNSPEC, &f->op.context);
		if (rc != 0)
			return (int)rc;
		unposted = f->next;
	}
	return 0;
}

int gompi_net_receive(void) {
	gompi_flag_give(&serving); // gompi_net_stop_serving has left it set
	lacking = 0;
	unposted = NULL; // drops buffers of a previous provider
	for (int i = 0; i < RECEIVES; i++) {
		struct gompi_frame *f = gompi_frame_get();
		if (f == NULL)
			return -FI_ENOMEM;
		f->next = unposted;
		unposted = f;
	}
	gompi_net_take();
	int rc = post_receives();
	gompi_net_give();
	return rc == -FI_EAGAIN ? 0 : rc;
}

// Passes the records of the peer's next frame to their ports.
static void deliver_next(struct gompi_peer *p, struct gompi_frame *f) {
	gompi_add(&gompi_net_counts.frames_taken, 1);
	// before the records are handled: answers to them may carry this acknowledgement
	gompi_store(&p->taken, ++p->arrived);
	gompi_frame_deliver(p->rank, f->bytes);
}

// Keeps a frame that has arrived before its predecessors. Returns false if it is a duplicate.
static bool keep_early(struct gompi_peer *p, struct gompi_frame *f) {
	struct gompi_frame **at = &p->early;
	const uint32_t ahead = gompi_head(f)->number - p->arrived;
	while (*at != NULL && gompi_head(*at)->number - p->arrived < ahead)
		at = &(*at)->next;
	if (*at != NULL && gompi_head(*at)->number - p->arrived == ahead)
		return false;
	f->next = *at;
	*at = f;
	return true;
}

// Handles a frame of `length` bytes. Providers receive messages in order, but may report a short one before a longer
// one; frames are put in order here. Returns true if the buffer is free again.
static bool take_frame(struct gompi_frame *f, size_t length) {
	const struct gompi_frame_head *h = gompi_head(f);
	int class;
	struct gompi_peer *p;
	if (gompi_frame_error(f->bytes, length) != NULL || (p = gompi_peer_of((int)h->source, &class)) == NULL ||
	    (h->kind == GOMPI_FRAME_RECORDS && h->number - p->arrived >= GOMPI_WINDOW)) {
		gompi_add(&gompi_net_counts.frames_dropped, 1);
		return true;
	}
	gompi_store(&p->alive, 1);
	gompi_peer_credit(p, h->taken);
	if (h->kind == GOMPI_FRAME_ASK)
		gompi_peer_tell(p, true);
	if (h->kind != GOMPI_FRAME_RECORDS)
		return true;
	if (h->number != p->arrived) {
		if (keep_early(p, f))
			return false;
		gompi_add(&gompi_net_counts.frames_dropped, 1);
		return true;
	}
	deliver_next(p, f);
	while ((f = p->early) != NULL && gompi_head(f)->number == p->arrived) {
		p->early = f->next;
		deliver_next(p, f);
		gompi_frame_put(f);
	}
	gompi_peer_tell(p, false);
	return true;
}

// Handles a completion. error is 0 or an error of libfabric.
static void complete(struct gompi_op *op, size_t length, int error) {
	if (op == NULL)
		return; // an internal error of the provider
	struct gompi_frame *f = (struct gompi_frame *)op;
	struct gompi_peer *p;
	switch (op->kind) {
	case GOMPI_OP_SEND:
		p = gompi_peer_known(f->peer);
		if (error != 0)
			gompi_peer_is_gone(p);
		gompi_sub(&p->out, 1);
		gompi_frame_put(f);
		break;
	case GOMPI_OP_RECEIVE:
		if (error != 0)
			gompi_add(&gompi_net_counts.frames_dropped, 1);
		else if (!take_frame(f, length)) {
			lacking++;
			break;
		}
		f->next = unposted;
		unposted = f;
		break;
	case GOMPI_OP_PART:
		gompi_part_done(op, error);
		break;
	}
}

// Allocates replacements for buffers whose frames are kept, as far as there is memory.
static void make_places(void) {
	struct gompi_frame *f;
	while (lacking > 0 && (f = gompi_frame_get()) != NULL) {
		f->next = unposted;
		unposted = f;
		lacking--;
	}
}

// Reads an error completion of the provider.
static void take_error(void) {
	struct fi_cq_err_entry e = {0};
	gompi_net_take();
	ssize_t n = fi_cq_readerr(gompi_net.cq, &e, 0);
	gompi_net_give();
	if (n > 0)
		complete(e.op_context, 0, e.err != 0 ? e.err : FI_EOTHER);
}

static bool serve_once(void) {
	static int looks; // consecutive polls that found nothing; serving thread only
	bool worked = false;
	// An operation that the provider could not accept may succeed after the provider has made progress. Otherwise
	// it is retried once every RETRY_LOOKS polls, so that other threads get the locks.
	if (looks % RETRY_LOOKS == 0)
		worked = gompi_peers_retry();

	worked = gompi_transfers_end() || worked;
	struct fi_cq_msg_entry e[BATCH];
	if (__builtin_expect(lacking > 0, 0)) // an allocation failed before
		make_places();
	if (!gompi_net_try())
		return worked;
	if (unposted != NULL)
		post_receives();
	ssize_t n = fi_cq_read(gompi_net.cq, e, BATCH);
	gompi_net_give();
	looks = n == -FI_EAGAIN ? looks + 1 : 0;
	if (n == -FI_EAVAIL)
		take_error();
	for (ssize_t i = 0; i < n; i++)
		complete(e[i].op_context, e[i].len, 0);
	gompi_fabric_push_done();
	if (__builtin_expect(lacking > 0, 0))
		make_places();
	if (unposted != NULL && gompi_net_try()) {
		post_receives();
		gompi_net_give();
	}
	return worked || n > 0 || n == -FI_EAVAIL;
}

bool gompi_net_serve(void) {
	if (!gompi_fabric_is_open() || gompi_flag_take(&serving))
		return false;
	gompi_tsan_ignore_begin();
	bool worked = serve_once();
	gompi_tsan_ignore_end();
	gompi_flag_give(&serving);
	return worked;
}

void gompi_net_stop_serving(void) {
	gompi_store_total(&gompi_fabric_open, false);
	while (gompi_flag_take(&serving))
		gompi_pause();
}

bool gompi_fabric_progress(void) {
	if (!gompi_fabric_is_open())
		return false;
	gompi_bell_looked();
	gompi_fabric_push(-1); // a thread that waits or polls wants answers
	return gompi_net_serve();
}

bool gompi_net_may_sleep(void) {
	if (gompi_net.fd < 0)
		return true;
	struct fid *on[] = {&gompi_net.cq->fid};
	gompi_net_take();
	int rc = fi_trywait(gompi_net.fabric, on, 1);
	gompi_net_give();
	return rc == 0;
}

// --- The service that all waits call

static bool net_ready(void) { return gompi_fabric_is_open(); }

static void net_lasts(void) {
	gompi_fabric_push(-1);
	gompi_bell_asleep();
}

// Sends queued records at the end of a wait, without a last poll: the progress thread makes rounds, so it is not
// needed. It would also delay the answer to what the thread has waited for.
static void net_ends(void) {
	if (gompi_fabric_is_open())
		gompi_fabric_push(-1);
}

void gompi_net_serve_in_waits(void) {
	static const struct gompi_service service = {
		.ready = net_ready, .serve = gompi_fabric_progress, .lasts = net_lasts, .ends = net_ends};
	gompi_service_add(&service);
}
