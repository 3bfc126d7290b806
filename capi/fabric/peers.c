// The table of peers, the retry list, and the list of failed peers.
#include "fabric/peer.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "fabric/bell.h"

atomic_bool gompi_fabric_open;

// --- The table of peers

struct gompi_peer *_Atomic *gompi_peers;
static struct gompi_mutex making;
static struct gompi_peer *_Atomic newest; // head of the list of all peers

struct gompi_peer *gompi_peers_first(void) {
	return gompi_load_acquire(&newest); // pairs with the release in gompi_peer_of
}

// Creates a peer. The caller holds `making`, so at most one thread creates peers.
static struct gompi_peer *make_peer(int rank, int *class) {
	*class = MPI_ERR_NO_MEM;
	struct gompi_peer *p = aligned_alloc(GOMPI_LINE, (sizeof *p + GOMPI_LINE - 1) / GOMPI_LINE * GOMPI_LINE);
	if (p == NULL)
		return NULL;
	memset(p, 0, sizeof *p);
	p->rank = rank;
	p->pace.most = GOMPI_PACE_LEAST;
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

struct gompi_peer *gompi_peer_of(int rank, int *class) {
	struct gompi_peer *p = gompi_peer_known(rank);
	if (__builtin_expect(p != NULL, 1))
		return p;
	*class = MPI_ERR_PROC_ABORTED;
	if ((uint32_t)rank >= (uint32_t)gompi_net.size || gompi_on_node(rank) >= 0)
		return NULL;
	gompi_mutex_take(&making);
	p = gompi_load_acquire(&gompi_peers[rank]);
	if (p == NULL && (p = make_peer(rank, class)) != NULL) {
		p->next = gompi_load(&newest);
		gompi_store_release(&newest, p);            // pairs with the acquire in gompi_peers_first
		gompi_store_release(&gompi_peers[rank], p); // pairs with the acquire in gompi_peer_known
	}
	gompi_mutex_give(&making);
	return p;
}

static struct gompi_peer *_Atomic retry_list;

static void put_frames(struct gompi_frame *f) {
	for (struct gompi_frame *next; f != NULL; f = next) {
		next = f->next;
		gompi_frame_put(f);
	}
}

gompi_a32 gompi_frames_under_way;

// Frees the peers of a previous network.
static void forget_peers(void) {
	gompi_store(&retry_list, NULL);
	gompi_store(&gompi_frames_under_way, 0);
	for (struct gompi_peer *p = gompi_swap_total(&newest, NULL), *next; p != NULL; p = next) {
		next = p->next;
		put_frames(p->open);
		put_frames(p->first);
		put_frames(p->early);
		free(p);
	}
	free(gompi_peers);
}

bool gompi_peers_open(void) {
	forget_peers();
	gompi_peers = calloc((size_t)gompi_net.size, sizeof *gompi_peers);
	return gompi_peers != NULL;
}

// --- The retry list. Removal always takes the whole list.

void gompi_peer_retry(struct gompi_peer *p) {
	if (gompi_swap_total(&p->again, 1) != 0)
		return;
	struct gompi_peer *first = gompi_load(&retry_list);
	do
		p->next_retry = first;
	while (!gompi_change_total(&retry_list, &first, p));
	gompi_bell_stir();
}

struct gompi_peer *gompi_peers_take_retries(void) {
	return gompi_load(&retry_list) == NULL ? NULL : gompi_swap_total(&retry_list, NULL);
}

bool gompi_peers_have_retries(void) { return gompi_load_total(&retry_list) != NULL; }

// --- Activity and failure

gompi_a32 gompi_peers_news;

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
	gompi_peer_retry(p); // the serving thread then ends its frames and transfers
	gompi_store_total(&gompi_peers_news, 1);
	gompi_bell_call();
}
