#include "fabric/frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/node.h"
#include "base/siphash.h"

// --- The pool

enum { SLAB_FRAMES = 16 }; // frames that are allocated together
static struct {
	struct gompi_mutex lock;
	struct gompi_frame *free;
} pool;

// Allocates a slab of frames and returns them as a list. Returns NULL if out of memory.
static struct gompi_frame *alloc_slab(void) {
	size_t bytes = SLAB_FRAMES * sizeof(struct gompi_frame);
	struct gompi_frame *f = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f == MAP_FAILED)
		return NULL;
	struct gompi_local_mr *local = NULL;
	if (gompi_net.needs_local_mr) {
		gompi_net_lock();
		int rc = gompi_local_mr_register(f, bytes, FI_SEND | FI_RECV, &local);
		gompi_net_unlock();
		if (rc != 0) {
			munmap(f, bytes);
			return NULL;
		}
	}
	void *descriptor = gompi_local_mr_descriptor(local);
	for (int i = 0; i < SLAB_FRAMES; i++) {
		f[i].descriptor = descriptor;
		f[i].next = i + 1 < SLAB_FRAMES ? &f[i + 1] : NULL;
	}
	return f;
}

struct gompi_frame *gompi_frame_alloc(void) {
	gompi_mutex_lock(&pool.lock);
	struct gompi_frame *f = pool.free;
	if (f != NULL)
		pool.free = f->next;
	gompi_mutex_unlock(&pool.lock);
	if (__builtin_expect(f != NULL, 1))
		return f;
	f = alloc_slab();
	if (f == NULL)
		return NULL;
	gompi_mutex_lock(&pool.lock);
	f[SLAB_FRAMES - 1].next = pool.free;
	pool.free = f->next;
	gompi_mutex_unlock(&pool.lock);
	return f;
}

void gompi_frame_free(struct gompi_frame *f) {
	gompi_mutex_lock(&pool.lock);
	f->next = pool.free;
	pool.free = f;
	gompi_mutex_unlock(&pool.lock);
}

// --- The message authentication code: the field mac authenticates the 24 bytes after mac in the head

uint64_t gompi_frame_mac(const struct gompi_frame_head *h) {
	const uint64_t words[] = {h->source | (uint64_t)h->destination << 32, h->length | (uint64_t)h->kind << 32,
				  h->sequence | (uint64_t)h->received << 32};
	return gompi_siphash(gompi_net.secret, words, sizeof words / sizeof *words);
}

// --- Arrival

const char *gompi_frame_error(const char *bytes, size_t length) {
	struct gompi_frame_head h;
	if (length < sizeof h || length > GOMPI_FRAME_BYTES || length % 8 != 0)
		return "length of the message";
	memcpy(&h, bytes, sizeof h);
	if (h.mac != gompi_frame_mac(&h))
		return "tag";
	if (h.length != length)
		return "length of the frame";
	if (h.destination != (uint32_t)gompi_node.self)
		return "destination";
	if (h.source >= (uint32_t)gompi_net.size || gompi_local_index((int)h.source) >= 0)
		return "source";
	if (h.kind == GOMPI_FRAME_CREDITS || h.kind == GOMPI_FRAME_PROBE)
		return length == sizeof h ? NULL : "records in a frame of credits";
	if (h.kind != GOMPI_FRAME_RECORDS)
		return "kind";
	size_t at = sizeof h;
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

void gompi_frame_deliver(int peer, const char *bytes) {
	size_t length = ((const struct gompi_frame_head *)(const void *)bytes)->length;
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
