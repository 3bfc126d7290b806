// The links of the lanes of a process: to processes on this node by their index, to processes on other nodes by a hash
// table.
#include "message/lane.h"

#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14
#endif

enum { MOST_MAPPED_AT_ONCE = 16 }; // processes of a node; their inboxes take 16 MiB

// A hash table with open addressing that finds the links to a peer, one per lane. Its size is a power of two. Entries
// are never removed.
struct gompi_remote_peers {
	uint32_t mask;
	// the smaller table that this one has replaced; other threads may still read it
	struct gompi_remote_peers *before;
	struct gompi_link *_Atomic at[];
};

enum { LEAST = 16 };

static struct gompi_link *_Atomic *place_of(struct gompi_remote_peers *t, int world) {
	uint32_t i = (uint32_t)world * 0x9e3779b1U >> 8;
	for (;; i++) {
		struct gompi_link *p = gompi_load_acquire(&t->at[i & t->mask]); // pairs with the release in add_peer
		if (p == NULL || p->world == world)
			return &t->at[i & t->mask];
	}
}

struct gompi_link *gompi_remote_links(struct gompi_messages *m, int world) {
	struct gompi_remote_peers *t = gompi_load_acquire(&m->peers); // pairs with the release in widen_peers
	return t == NULL ? NULL : gompi_load_acquire(place_of(t, world));
}

static struct gompi_remote_peers *widen_peers(struct gompi_messages *m) {
	struct gompi_remote_peers *old = gompi_load(&m->peers), *t;
	uint32_t places = old != NULL ? 2 * (old->mask + 1) : LEAST;
	t = gompi_must_have(sizeof *t + places * sizeof t->at[0]);
	t->mask = places - 1;
	t->before = old;
	for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
		struct gompi_link *p = gompi_load(&old->at[i]);
		if (p != NULL)
			gompi_store(place_of(t, p->world), p);
	}
	gompi_store_release(&m->peers, t);
	return t;
}

static struct gompi_link *add_peer(struct gompi_messages *m, int world) {
	gompi_mutex_take(&m->peers_lock);
	struct gompi_link *p = gompi_remote_links(m, world);
	if (p == NULL) {
		struct gompi_remote_peers *t = gompi_load(&m->peers);
		if (t == NULL || 2 * m->peers_number > t->mask)
			t = widen_peers(m);
		p = gompi_must_have(GOMPI_LANES * sizeof *p);
		for (struct gompi_link *k = p; k < p + GOMPI_LANES; k++) {
			k->world = world;
			k->process = -1;
			gompi_store(&k->reads, READS_REFUSED);
		}
		m->peers_number++;
		gompi_store_release(place_of(t, world), p);
	}
	gompi_mutex_give(&m->peers_lock);
	return p;
}

struct gompi_link *gompi_link_slow(struct gompi_lane *l, int process, int world) {
	struct gompi_messages *m = l->home;
	if (process < 0) {
		struct gompi_link *peer = gompi_remote_links(m, world);
		return (peer != NULL ? peer : add_peer(m, world)) + (l - m->lane);
	}
	struct gompi_link *p = gompi_must_have(sizeof *p), *other = NULL;
	p->box = gompi_inbox_of(m, process, (int)(l - m->lane));
	p->world = world;
	p->process = process;
	p->cell = gompi_messages_cell(m, process);
	// Populate the inbox. Without this, the first 4,000 messages fault once every 64 messages: 0.84 us instead of
	// 0.62 us each. A failure loses only that. The populated pages count as memory of this process, so nodes with
	// many processes skip it.
	if (m->node.n <= MOST_MAPPED_AT_ONCE)
		madvise(p->box, GOMPI_INBOX_SIZE, MADV_POPULATE_WRITE);
	if (!gompi_change_once(&l->links[process], &other, p)) {
		free(p);
		return other;
	}
	return p;
}

void gompi_links_close(struct gompi_messages *m) {
	for (struct gompi_lane *l = m->lane; l < m->lane + GOMPI_LANES; l++) {
		for (int k = 0; k < m->node.n; k++)
			free(gompi_load(&l->links[k]));
		free(l->links - 1);
	}
	struct gompi_remote_peers *t = gompi_load(&m->peers);
	for (uint32_t i = 0; t != NULL && i <= t->mask; i++)
		free(gompi_load(&t->at[i]));
	for (struct gompi_remote_peers *before; t != NULL; t = before) {
		before = t->before;
		free(t);
	}
}
