// The table of peers, the retry list, and the activity and failure of peers.
#include "fabric/peer.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "fabric/doorbell.h"

atomic_bool gompi_fabric_open_flag;

// --- The table of peers

struct gompi_peer *_Atomic *gompi_peers;
static struct gompi_mutex peer_create_lock;
static struct gompi_peer *_Atomic peer_list; // head of the list of all peers

struct gompi_peer *gompi_peers_first(void) {
	return gompi_load_acquire(&peer_list); // pairs with the release in gompi_peer_get
}

// Creates a peer. The caller holds peer_create_lock, so at most one thread creates peers. Returns NULL if out of
// memory.
static struct gompi_peer *create_peer(int rank) {
	struct gompi_peer *p = aligned_alloc(GOMPI_CACHE_LINE,
					     (sizeof *p + GOMPI_CACHE_LINE - 1) / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE);
	if (p == NULL)
		return NULL;
	memset(p, 0, sizeof *p);
	p->rank = rank;
	p->pace.limit_bytes = GOMPI_PACE_MIN_BYTES;
	return p;
}

struct gompi_peer *gompi_peer_get(int rank, int *class) {
	struct gompi_peer *p = gompi_peer_find(rank);
	if (__builtin_expect(p != NULL, 1))
		return p;
	*class = MPI_ERR_PROC_ABORTED;
	if ((uint32_t)rank >= (uint32_t)gompi_net.capacity || gompi_local_index(rank) >= 0)
		return NULL;
	*class = MPI_ERR_NO_MEM;
	gompi_mutex_lock(&peer_create_lock);
	p = gompi_load_acquire(&gompi_peers[rank]);
	if (p == NULL && (p = create_peer(rank)) != NULL) {
		p->next = gompi_load(&peer_list);
		gompi_store_release(&peer_list, p);         // pairs with the acquire in gompi_peers_first
		gompi_store_release(&gompi_peers[rank], p); // pairs with the acquire in gompi_peer_find
	}
	gompi_mutex_unlock(&peer_create_lock);
	return p;
}

static struct gompi_peer *_Atomic retry_list;

static void free_frames(struct gompi_frame *f) {
	for (struct gompi_frame *next; f != NULL; f = next) {
		next = f->next;
		gompi_frame_free(f);
	}
}

gompi_a32 gompi_frames_in_flight;

// Frees the peers of a previous network.
static void free_peers(void) {
	gompi_store(&retry_list, NULL);
	gompi_store(&gompi_frames_in_flight, 0);
	for (struct gompi_peer *p = gompi_swap_seq_cst(&peer_list, NULL), *next; p != NULL; p = next) {
		next = p->next;
		free_frames(p->open_frame);
		free_frames(p->queue_first);
		free_frames(p->out_of_order);
		free(p);
	}
	free(gompi_peers);
}

bool gompi_peers_open(void) {
	free_peers();
	gompi_peers = calloc((size_t)gompi_net.capacity, sizeof *gompi_peers);
	return gompi_peers != NULL;
}

// --- The retry list. A removal always removes the whole list, so adding a peer needs no protection against ABA.

void gompi_peer_schedule_retry(struct gompi_peer *p) {
	if (gompi_swap_seq_cst(&p->on_retry_list, 1) != 0)
		return;
	struct gompi_peer *first = gompi_load(&retry_list);
	do
		p->next_retry = first;
	while (!gompi_cas_weak_seq_cst(&retry_list, &first, p));
	gompi_net_wake_if_armed();
}

struct gompi_peer *gompi_peers_dequeue_retries(void) {
	return gompi_load(&retry_list) == NULL ? NULL : gompi_swap_seq_cst(&retry_list, NULL);
}

bool gompi_peers_have_retries(void) { return gompi_load_seq_cst(&retry_list) != NULL; }

// --- Activity and failure

gompi_a32 gompi_peers_unreported;

static bool is_busy_locked(const struct gompi_peer *p) {
	return p->frames_sent != p->frames_acked || p->queue_first != NULL || gompi_load(&p->inflight_bytes) > 0 ||
	       p->transfer_queue != NULL || gompi_load(&p->sends_in_flight) > 0;
}

bool gompi_peer_busy(struct gompi_peer *p) {
	gompi_mutex_lock(&p->lock);
	bool busy = is_busy_locked(p);
	gompi_mutex_unlock(&p->lock);
	return busy;
}

bool gompi_peers_busy(void) {
	for (struct gompi_peer *p = gompi_peers_first(); p != NULL; p = p->next)
		if (gompi_load(&p->has_failed) == 0 && gompi_peer_busy(p))
			return true;
	return false;
}

void gompi_peer_mark_failed(struct gompi_peer *p) {
	if (gompi_swap_seq_cst(&p->has_failed, 1) != 0)
		return;
	gompi_peer_schedule_retry(p); // the serving thread then drops p's frames and ends its transfers
	gompi_store_seq_cst(&gompi_peers_unreported, 1);
	gompi_net_doorbell_ring();
}
