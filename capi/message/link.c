// The links of the VCIs of a process. An array, indexed by the peer's index on this node, contains the links to
// processes of this node. A hash table contains the links to other nodes.
#include "message/vci.h"

#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE // Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

// gompi_link_slow populates the inboxes only on nodes with at most this many processes. All inboxes of such a node
// together take at most 16 MiB.
enum { MAX_PREFAULT_PROCESSES = 16 };

// A hash table with open addressing that finds the links to a peer, one per VCI. Its size is a power of two. Entries
// are never removed.
struct gompi_remote_peers {
	uint32_t mask;
	// the smaller table that this one has replaced; other threads may still read it
	struct gompi_remote_peers *replaced;
	struct gompi_link *_Atomic entries[];
};

enum { MIN_TABLE_SIZE = 16 };

static struct gompi_link *_Atomic *peer_entry(struct gompi_remote_peers *t, int world) {
	uint32_t i = (uint32_t)world * 0x9e3779b1U >> 8;
	for (;; i++) {
		struct gompi_link *p =
			gompi_load_acquire(&t->entries[i & t->mask]); // pairs with the release in add_peer
		if (p == NULL || p->world == world)
			return &t->entries[i & t->mask];
	}
}

struct gompi_link *gompi_remote_links(struct gompi_messages *m, int world) {
	struct gompi_remote_peers *t = gompi_load_acquire(&m->peers); // pairs with the release in grow_peers
	return t == NULL ? NULL : gompi_load_acquire(peer_entry(t, world));
}

static struct gompi_remote_peers *grow_peers(struct gompi_messages *m) {
	struct gompi_remote_peers *old = gompi_load(&m->peers), *t;
	uint32_t size = old != NULL ? 2 * (old->mask + 1) : MIN_TABLE_SIZE;
	t = gompi_alloc_or_abort(sizeof *t + size * sizeof t->entries[0]);
	t->mask = size - 1;
	t->replaced = old;
	for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
		struct gompi_link *p = gompi_load(&old->entries[i]);
		if (p != NULL)
			gompi_store(peer_entry(t, p->world), p);
	}
	gompi_store_release(&m->peers, t);
	return t;
}

static struct gompi_link *add_peer(struct gompi_messages *m, int world) {
	gompi_mutex_lock(&m->peers_lock);
	struct gompi_link *p = gompi_remote_links(m, world);
	if (p == NULL) {
		struct gompi_remote_peers *t = gompi_load(&m->peers);
		if (t == NULL || 2 * m->peer_count > t->mask)
			t = grow_peers(m);
		p = gompi_alloc_or_abort(GOMPI_VCI_COUNT * sizeof *p);
		for (struct gompi_link *k = p; k < p + GOMPI_VCI_COUNT; k++) {
			k->world = world;
			k->node_index = -1;
			gompi_store(&k->cma_state, CMA_REFUSED);
		}
		m->peer_count++;
		gompi_store_release(peer_entry(t, world), p);
	}
	gompi_mutex_unlock(&m->peers_lock);
	return p;
}

// Returns the number of processes that exist or have existed on the node.
static uint32_t process_count(const struct gompi_messages *m) {
	return gompi_load(&((struct gompi_node_header *)(void *)m->node.control)->process_count);
}

struct gompi_link *gompi_link_slow(struct gompi_vci *l, int node_index, int world) {
	struct gompi_messages *m = l->messages;
	if (node_index < 0) {
		struct gompi_link *peer = gompi_remote_links(m, world);
		return (peer != NULL ? peer : add_peer(m, world)) + (l - m->vci);
	}
	struct gompi_link *p = gompi_alloc_or_abort(sizeof *p), *existing = NULL;
	p->inbox = gompi_inbox_of(m, node_index, (int)(l - m->vci));
	p->world = world;
	p->node_index = node_index;
	p->cell = gompi_messages_cell(m, node_index);
	// Populates both inboxes. Without these calls, the first 4,000 messages each way cause a page fault for every
	// 64 messages, in both processes at the same time. The faults wait for each other, and a ping-pong of 8 bytes
	// takes 0.3 us one way instead of 0.11. A failure of the calls loses only this gain. The populated pages count
	// as memory of this process, so nodes with many processes skip the calls.
	if (process_count(m) <= MAX_PREFAULT_PROCESSES) {
		madvise(l->inbox, GOMPI_INBOX_SIZE, MADV_POPULATE_READ);
		madvise(p->inbox, GOMPI_INBOX_SIZE, MADV_POPULATE_WRITE);
	}
	if (!gompi_cas_strong(&l->links[node_index], &existing, p)) {
		free(p);
		return existing;
	}
	return p;
}

void gompi_links_close(struct gompi_messages *m) {
	for (struct gompi_vci *l = m->vci; l < m->vci + GOMPI_VCI_COUNT && l->links != NULL; l++) {
		for (int k = 0; k < m->node.n; k++)
			free(gompi_load(&l->links[k]));
		free(l->links - 1);
	}
	struct gompi_remote_peers *t = gompi_load(&m->peers);
	for (uint32_t i = 0; t != NULL && i <= t->mask; i++)
		free(gompi_load(&t->entries[i]));
	gompi_free_all(t, offsetof(struct gompi_remote_peers, replaced));
}
