#include "fabric/progress.h"

#include <rdma/fi_errno.h>
#include <string.h>

#include "base/sanitizer.h"
#include "base/wait.h"
#include "fabric/bell.h"
#include "fabric/peer.h"

enum {
	RECEIVES = 32, // frames that there is place for at any time, whoever sends them
	BATCH = 16,    // completions that are looked at together
	RETRY_LOOKS = 16,
};

// Places that have been emptied, for the serving thread to give back; and how many there was no memory for.
static struct gompi_frame *unposted;
static int lacking;

static atomic_flag serving = ATOMIC_FLAG_INIT; // a thread is the serving one

// Gives the provider what there is in unposted, under the lock of the net: 0 or an error of libfabric.
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
	gompi_flag_give(&serving); // gompi_net_stop_serving has kept it
	lacking = 0;
	unposted = NULL; // or places of a provider that has ended
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

// Gives the records of the next frame of a peer to their ports.
static void deliver_next(struct gompi_peer *p, struct gompi_frame *f) {
	gompi_add(&gompi_net_counts.frames_taken, 1);
	gompi_store(&p->taken, ++p->arrived); // before the records: their answers may say so
	gompi_frame_deliver(p->rank, f->bytes);
}

// Keeps a frame that others must be before. false: it is there already.
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

// A frame has arrived, of so many bytes. Providers take messages in order and may still tell of a short one before a
// long one, so they are put in order here. Returns true if the frame is used no longer.
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

// What the provider has done, or not: error is 0 or one of libfabric's.
static void complete(struct gompi_op *op, size_t length, int error) {
	if (op == NULL)
		return; // an error of the provider's own
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

// Makes places for those whose frames are kept, as far as there is memory.
static void make_places(void) {
	struct gompi_frame *f;
	while (lacking > 0 && (f = gompi_frame_get()) != NULL) {
		f->next = unposted;
		unposted = f;
		lacking--;
	}
}

// The provider has an error to tell.
static void take_error(void) {
	struct fi_cq_err_entry e = {0};
	gompi_net_take();
	ssize_t n = fi_cq_readerr(gompi_net.cq, &e, 0);
	gompi_net_give();
	if (n > 0)
		complete(e.op_context, 0, e.err != 0 ? e.err : FI_EOTHER);
}

static bool serve_once(void) {
	static int looks; // that found nothing, the serving thread's
	bool worked = false;
	// What a provider could not take it can when it has done something; or else it is tried now and then, so that
	// others get the locks.
	if (looks % RETRY_LOOKS == 0)
		worked = gompi_peers_retry();

	worked = gompi_transfers_end() || worked;
	struct fi_cq_msg_entry e[BATCH];
	if (__builtin_expect(lacking > 0, 0)) // there was no memory before
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
	gompi_fabric_push(-1); // who waits, or looks, wants an answer
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

// --- A service of every wait

static bool net_ready(void) { return gompi_fabric_is_open(); }

static void net_lasts(void) {
	gompi_fabric_push(-1);
	gompi_bell_asleep();
}

// The progress thread makes rounds, so nobody counts on a last look, which would come between what a thread has waited
// for and what it answers.
static void net_ends(void) {
	if (gompi_fabric_is_open())
		gompi_fabric_push(-1);
}

void gompi_net_serve_in_waits(void) {
	static const struct gompi_service service = {
		.ready = net_ready, .serve = gompi_fabric_progress, .lasts = net_lasts, .ends = net_ends};
	gompi_service_add(&service);
}
