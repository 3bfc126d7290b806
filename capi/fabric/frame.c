#include "fabric/frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/node.h"

// --- The pool

enum { SLAB_FRAMES = 16 }; // frames that are allocated together
struct slab {
	struct slab *next;
	struct gompi_frame frame[SLAB_FRAMES];
};
static struct {
	struct gompi_mutex lock;
	struct gompi_frame *free;
	struct slab *slabs;
} pool;

// Allocates a slab and links its frames in a list. Returns NULL if out of memory.
static struct slab *alloc_slab(void) {
	struct slab *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	struct gompi_net_local *local = NULL;
	if (gompi_net.needs_local) {
		gompi_net_lock();
		const enum gompi_net_error error =
			gompi_net.ops->register_local((char *)s, sizeof *s, NET_ACCESS_MESSAGES, &local);
		gompi_net_unlock();
		if (error != NET_SUCCESS) {
			munmap(s, sizeof *s);
			return NULL;
		}
	}
	for (int i = 0; i < SLAB_FRAMES; i++) {
		s->frame[i].local = local;
		s->frame[i].next = i + 1 < SLAB_FRAMES ? &s->frame[i + 1] : NULL;
	}
	return s;
}

struct gompi_frame *gompi_frame_alloc(void) {
	gompi_mutex_lock(&pool.lock);
	struct gompi_frame *f = pool.free;
	if (f != NULL)
		pool.free = f->next;
	gompi_mutex_unlock(&pool.lock);
	if (__builtin_expect(f != NULL, 1))
		return f;
	struct slab *s = alloc_slab();
	if (s == NULL)
		return NULL;
	f = s->frame;
	gompi_mutex_lock(&pool.lock);
	f[SLAB_FRAMES - 1].next = pool.free;
	pool.free = f->next;
	s->next = pool.slabs;
	pool.slabs = s;
	gompi_mutex_unlock(&pool.lock);
	return f;
}

void gompi_frame_free(struct gompi_frame *f) {
	gompi_mutex_lock(&pool.lock);
	f->next = pool.free;
	pool.free = f;
	gompi_mutex_unlock(&pool.lock);
}

void gompi_frames_reset(void) {
	for (struct slab *s = pool.slabs, *next; s != NULL; s = next) {
		next = s->next;
		munmap(s, sizeof *s);
	}
	pool.slabs = NULL;
	pool.free = NULL;
}

// --- Arrival

const char *gompi_frame_error(int peer, const char *bytes, size_t length) {
	if (peer < 0 || peer >= gompi_net.capacity || gompi_local_index(peer) >= 0)
		return "sender";
	if (length < sizeof(struct gompi_frame_head) || length > GOMPI_FRAME_BYTES || length % 8 != 0)
		return "length of the message";
	size_t at = sizeof(struct gompi_frame_head);
	while (at < length) { // length is a multiple of 8, so the remaining bytes hold a record head
		struct gompi_record_head r;
		memcpy(&r, bytes + at, sizeof r);
		at += sizeof r;
		if (r.port >= FABRIC_PORTS || r.zero != 0 || r.length > GOMPI_MAX_RECORD_BYTES)
			return "head of a record";
		if (GOMPI_ALIGN8(r.length) > length - at)
			return "length of a record";
		at += GOMPI_ALIGN8(r.length);
	}
	return NULL;
}

void gompi_frame_deliver(int peer, const char *bytes, size_t length) {
	size_t at = sizeof(struct gompi_frame_head);
	while (at < length) {
		const struct gompi_record_head *r = (const void *)(bytes + at);
		const struct gompi_port_handler *h = gompi_port_handlers[r->port];
		at += sizeof *r;
		if (h != NULL)
			h->on_record(peer, bytes + at, r->length);
		at += GOMPI_ALIGN8(r->length);
	}
}
