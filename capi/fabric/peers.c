// Peers: records gather in frames, frames leave in order and for credits.
#include "fabric/peer.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "base/abi.h"
#include "base/call.h"
#include "base/must_have.h"
#include "base/wait.h"
#include "fabric/bell.h"
#include "fabric/health.h"
#include "tcp/tcp.h"

atomic_bool gompi_fabric_open;

// --- Who they are

static struct gompi_peer *_Atomic *peers; // by rank
static struct gompi_mutex making;
static struct gompi_peer *_Atomic newest; // all of them

struct gompi_peer *gompi_peers_first(void) {
	return gompi_load_acquire(&newest);
} // gompi_peer_of

// At most one thread makes a peer.
static struct gompi_peer *make_peer(int rank, int *class) {
	*class = MPI_ERR_NO_MEM;
	struct gompi_peer *p = aligned_alloc(GOMPI_LINE, (sizeof *p + GOMPI_LINE - 1) / GOMPI_LINE * GOMPI_LINE);
	if (p == NULL)
		return NULL;
	memset(p, 0, sizeof *p);
	p->rank = rank;
	if (gompi_net.own) {
		p->address = (fi_addr_t)rank;
		return p;
	}
	gompi_net_take();
	const char *address = gompi_net.addresses + (size_t)rank * gompi_net.address_bytes;
	int n = fi_av_insert(gompi_net.av, address, 1, &p->address, 0, NULL);
	gompi_net_give();
	if (n == 1)
		return p;
	free(p);
	*class = MPI_ERR_OTHER;
	return NULL;
}

struct gompi_peer *gompi_peer_known(int rank) {
	return (uint32_t)rank < (uint32_t)gompi_net.size ? gompi_load_acquire(&peers[rank]) : NULL; // make_peer
}

struct gompi_peer *gompi_peer_of(int rank, int *class) {
	struct gompi_peer *p = gompi_peer_known(rank);
	if (__builtin_expect(p != NULL, 1))
		return p;
	*class = MPI_ERR_PROC_ABORTED;
	if ((uint32_t)rank >= (uint32_t)gompi_net.size || gompi_on_node(rank) >= 0)
		return NULL;
	gompi_mutex_take(&making);
	p = gompi_load_acquire(&peers[rank]);
	if (p == NULL && (p = make_peer(rank, class)) != NULL) {
		p->next = gompi_load(&newest);
		gompi_store_release(&newest, p);      // pairs with the acquire in gompi_peers_first
		gompi_store_release(&peers[rank], p); // pairs with the acquire in gompi_peer_known
	}
	gompi_mutex_give(&making);
	return p;
}

bool gompi_peers_open(void) {
	peers = calloc((size_t)gompi_net.size, sizeof *peers);
	return peers != NULL;
}

// --- Two lists: of peers for whom something lies there, and of those to try again for. Whoever takes out takes all.

static struct gompi_peer *_Atomic pending_list, *_Atomic retry_list;

gompi_a32 gompi_peers_news;

// The caller holds the lock of p, or does so before it looks for what it puts p on the list for.
static void put_on_pending(struct gompi_peer *p) {
	if (gompi_load_acquire(&p->pending) != 0) // pairs with the store of who takes it from the list
		return;
	gompi_store(&p->pending, 1);
	struct gompi_peer *first = gompi_load(&pending_list);
	do
		p->next_pending = first;
	while (!gompi_change_total(&pending_list, &first, p));
	gompi_progress_stir();
}

void gompi_peer_retry(struct gompi_peer *p) {
	if (gompi_swap_total(&p->again, 1) != 0)
		return;
	struct gompi_peer *first = gompi_load(&retry_list);
	do
		p->next_retry = first;
	while (!gompi_change_total(&retry_list, &first, p));
	gompi_progress_stir();
}

bool gompi_peers_wait(void) { return gompi_load_total(&pending_list) != NULL || gompi_load_total(&retry_list) != NULL; }

struct gompi_peer *gompi_peers_take_retries(void) {
	return gompi_load(&retry_list) == NULL ? NULL : gompi_swap_total(&retry_list, NULL);
}

bool gompi_peers_have_retries(void) { return gompi_load(&retry_list) != NULL; }

// --- Frames leave

// Gives the provider a place that it keeps until it is done.
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

// Gives a frame to the provider: 0, or an error of libfabric. What it has taken is no longer ours.
static int give_frame(struct gompi_peer *p, struct gompi_frame *f) {
	struct gompi_frame_head *h = gompi_head(f);
	*h = (struct gompi_frame_head){.source = (uint32_t)gompi_net.rank,
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

// There is room again for those who wait.
static void tell_room(struct gompi_peer *p) {
	gompi_store(&p->blocked, 0);
	gompi_full_fence(); // before the looks at who sleeps and at who has found no room
	gompi_wake_if_asleep(&p->room);
	if (gompi_load(&p->no_room) != 0)
		gompi_peer_retry(p); // for the handlers, which the serving thread calls
}

// Nothing leaves for a dead peer.
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
	tell_room(p);
}

// What is in the open frame is the last that waits.
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
		if (p->sent - p->credited >= GOMPI_WINDOW)
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
	// A frame that has been overtaken tells what is known: it seems to tell of more than there was.
	if (more != 0 && more <= p->sent - p->credited) {
		p->credited = taken;
		gompi_peer_send(p);
	}
	gompi_mutex_give(&p->lock);
}

// Sends a frame without records under the lock of p: 0, or an error of libfabric.
static int give_head(struct gompi_peer *p, enum gompi_frame_kind kind) {
	const uint32_t taken = gompi_load(&p->taken);
	struct gompi_frame_head h = {.source = (uint32_t)gompi_net.rank,
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
	if (gompi_net.own && rc == 0) { // which takes what it may never be able to send
		gompi_net_take();
		bool refused = gompi_tcp_refused(p->rank);
		gompi_net_give();
		return refused ? GOMPI_REFUSED : GOMPI_ASKED;
	}
	if (rc != 0 && rc != -FI_EAGAIN)
		gompi_peer_is_gone(p);
	return rc == 0 ? GOMPI_ASKED : under_way ? GOMPI_BUSY : GOMPI_REFUSED;
}

// --- Records

// A wait for room.
static bool has_room(void *arg) {
	struct gompi_peer *p = arg;
	return gompi_load_total(&p->blocked) == 0 || gompi_load(&p->gone) != 0;
}

static int wait_for_room(struct gompi_peer *p) {
	const char *call = gompi_current_call();
	const struct gompi_waiting what = {.call = call != NULL ? call : "", .peer = p->rank, .object = 0};
	return gompi_await(&p->room, has_room, p, &what);
}

// Makes a new frame the open one if that may be, under the lock: 0, MPI_ERR_PENDING: not now, MPI_ERR_NO_MEM.
static int open_frame(struct gompi_peer *p, enum gompi_fabric_wait wait) {
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

static inline size_t record_bytes(size_t length) { return sizeof(struct gompi_record_head) + GOMPI_ALIGN8(length); }

// Returns true if the open frame has no room for so many bytes, under the lock.
static inline bool lacks_room(struct gompi_peer *p, size_t need) {
	return p->open == NULL || p->open->used + need > GOMPI_FRAME_BYTES || gompi_load(&p->gone) != 0;
}

// Begins a record in the open frame, which has room for it: where its data goes.
static inline char *begin_record(struct gompi_peer *p, enum gompi_port port, size_t length) {
	struct gompi_frame *f = p->open;
	p->reserved = f->used;
	char *record = f->bytes + f->used;
	if (length % 8 != 0)
		memset(record + record_bytes(length) - 8, 0, 8); // nothing of what was here before leaves
	*(struct gompi_record_head *)(void *)record = (struct gompi_record_head){.port = (uint16_t)port};
	return record + sizeof(struct gompi_record_head);
}

// gompi_fabric_reserve, where something is to be made or waited for.
static char *reserve_closer(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	struct gompi_peer *p = gompi_peer_of(peer, class);
	if (p == NULL)
		return NULL;
	gompi_mutex_take(&p->lock);
	while (lacks_room(p, record_bytes(length))) {
		int rc = MPI_ERR_PROC_ABORTED;
		if (gompi_load(&p->gone) == 0)
			rc = open_frame(p, wait);
		if (rc == MPI_SUCCESS)
			continue;
		if (rc == MPI_ERR_PENDING && wait == FABRIC_TRY)
			gompi_or_total(&p->no_room, 1u << port);
		gompi_mutex_give(&p->lock);
		if (rc == MPI_ERR_PENDING && wait == FABRIC_WAIT)
			rc = wait_for_room(p);
		if (rc != MPI_SUCCESS) {
			*class = rc;
			return NULL;
		}
		gompi_mutex_take(&p->lock);
	}
	return begin_record(p, port, length);
}

// Whoever has asked for an answer would wait for ever without it. So want of memory, which a provider may have for a
// moment, is no reason to leave it out: without it the process cannot go on.
static __attribute__((noinline)) char *reserve_slow(int peer, enum gompi_port port, size_t length,
						    enum gompi_fabric_wait wait, int *class) {
	enum { TRIES = 1000 };
	for (int i = 0;; i++) {
		char *at = reserve_closer(peer, port, length, wait, class);
		if (__builtin_expect(at != NULL || wait != FABRIC_ANSWER || *class != MPI_ERR_NO_MEM, 1))
			return at;
		if (i == TRIES)
			gompi_no_memory(sizeof(struct gompi_frame));
		sched_yield();
	}
}

char *gompi_fabric_reserve(int peer, enum gompi_port port, size_t length, enum gompi_fabric_wait wait, int *class) {
	struct gompi_peer *p = gompi_peer_known(peer);
	if (__builtin_expect(p == NULL || !gompi_mutex_try(&p->lock), 0))
		return reserve_slow(peer, port, length, wait, class);
	if (__builtin_expect(!lacks_room(p, record_bytes(length)), 1))
		return begin_record(p, port, length);
	gompi_mutex_give(&p->lock);
	return reserve_slow(peer, port, length, wait, class);
}

// Answers lie there that are to leave after this round.
static gompi_a32 answers_lie;

void gompi_fabric_commit(int peer, size_t length, enum gompi_urgency urgency) {
	struct gompi_peer *p = gompi_peer_known(peer);
	struct gompi_frame *f = p->open;
	struct gompi_record_head *r = (struct gompi_record_head *)(void *)(f->bytes + p->reserved);
	r->length = (uint32_t)length;
	f->used = (uint32_t)(p->reserved + sizeof *r + GOMPI_ALIGN8(length));
	if (urgency == FABRIC_NOW) {
		p->hurry = true;
		gompi_peer_send(p);
	} else {
		put_on_pending(p);
		if (urgency == FABRIC_DONE)
			gompi_store(&answers_lie, 1);
	}
	gompi_mutex_give(&p->lock);
}

void gompi_fabric_push_done(void) {
	if (gompi_load(&answers_lie) == 0)
		return;
	gompi_store_total(&answers_lie, 0);
	gompi_fabric_push(-1);
}

static void push_peer(struct gompi_peer *p) {
	gompi_mutex_take(&p->lock);
	p->hurry = true;
	gompi_peer_send(p);
	gompi_mutex_give(&p->lock);
}

void gompi_fabric_push(int peer) {
	if (peer >= 0) {
		struct gompi_peer *p = gompi_peer_known(peer);
		if (p != NULL)
			push_peer(p);
		return;
	}
	if (gompi_load(&pending_list) == NULL)
		return;
	struct gompi_peer *p = gompi_swap_total(&pending_list, NULL);
	while (p != NULL) {
		struct gompi_peer *next = p->next_pending;
		gompi_store_total(&p->pending, 0); // before the look: see put_on_pending
		push_peer(p);
		p = next;
	}
}

// --- Life

static bool busy_locked(const struct gompi_peer *p) {
	return p->sent != p->credited || p->first != NULL || gompi_load(&p->flying) > 0 || p->waits != NULL ||
	       gompi_load(&p->out) > 0;
}

bool gompi_peer_busy(struct gompi_peer *p) {
	gompi_mutex_take(&p->lock);
	bool busy = busy_locked(p);
	gompi_mutex_give(&p->lock);
	return busy;
}

bool gompi_peers_busy(void) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (gompi_load(&p->gone) == 0 && gompi_peer_busy(p))
			return true;
	return false;
}

void gompi_peer_is_gone(struct gompi_peer *p) {
	if (gompi_swap_total(&p->gone, 1) != 0)
		return;
	gompi_peer_retry(p); // its frames and transfers end
	gompi_store_total(&gompi_peers_news, 1);
	gompi_progress_call();
}
