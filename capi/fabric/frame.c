#include "fabric/frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/node.h"

struct gompi_net_counts gompi_net_counts;
const struct gompi_port_handler *gompi_ports[FABRIC_PORTS];

// --- The pool

enum { SLAB = 16 }; // places that are made together
static struct {
	struct gompi_mutex lock;
	struct gompi_frame *free;
} pool;

// Makes a slab of places and returns their list, NULL: there is no memory.
static struct gompi_frame *make_slab(void) {
	size_t bytes = SLAB * sizeof(struct gompi_frame);
	struct gompi_frame *f = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f == MAP_FAILED)
		return NULL;
	struct gompi_local *local = NULL;
	if (gompi_net.local_keys) {
		gompi_net_take();
		int rc = gompi_local_register(f, bytes, FI_SEND | FI_RECV, &local);
		gompi_net_give();
		if (rc != 0) {
			munmap(f, bytes);
			return NULL;
		}
	}
	void *descriptor = gompi_local_descriptor(local);
	for (int i = 0; i < SLAB; i++) {
		f[i].descriptor = descriptor;
		f[i].next = i + 1 < SLAB ? &f[i + 1] : NULL;
	}
	return f;
}

struct gompi_frame *gompi_frame_get(void) {
	gompi_mutex_take(&pool.lock);
	struct gompi_frame *f = pool.free;
	if (f != NULL)
		pool.free = f->next;
	gompi_mutex_give(&pool.lock);
	if (__builtin_expect(f != NULL, 1))
		return f;
	f = make_slab();
	if (f == NULL)
		return NULL;
	gompi_mutex_take(&pool.lock);
	f[SLAB - 1].next = pool.free;
	pool.free = f->next;
	gompi_mutex_give(&pool.lock);
	return f;
}

void gompi_frame_put(struct gompi_frame *f) {
	gompi_mutex_take(&pool.lock);
	f->next = pool.free;
	pool.free = f;
	gompi_mutex_give(&pool.lock);
}

// --- The tag: the hash known as "sip", with 2 and 4 rounds, of the 24 bytes behind it

#define ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))

static inline void sip_round(uint64_t v[4]) {
	v[0] += v[1], v[1] = ROTATE(v[1], 13) ^ v[0], v[0] = ROTATE(v[0], 32);
	v[2] += v[3], v[3] = ROTATE(v[3], 16) ^ v[2];
	v[0] += v[3], v[3] = ROTATE(v[3], 21) ^ v[0];
	v[2] += v[1], v[1] = ROTATE(v[1], 17) ^ v[2], v[2] = ROTATE(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word) {
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

uint64_t gompi_frame_tag(const struct gompi_frame_head *h) {
	const uint64_t *k = gompi_net.secret;
	uint64_t v[4] = {k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d, k[0] ^ 0x6c7967656e657261,
			 k[1] ^ 0x7465646279746573};
	sip_word(v, h->source | (uint64_t)h->destination << 32);
	sip_word(v, h->length | (uint64_t)h->kind << 32);
	sip_word(v, h->number | (uint64_t)h->taken << 32);
	sip_word(v, (uint64_t)24 << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// --- Arrival

const char *gompi_frame_wrong(const char *bytes, size_t length) {
	struct gompi_frame_head h;
	if (length < sizeof h || length > GOMPI_FRAME_BYTES || length % 8 != 0)
		return "length of the message";
	memcpy(&h, bytes, sizeof h);
	if (h.tag != gompi_frame_tag(&h))
		return "tag";
	if (h.length != length)
		return "length of the frame";
	if (h.destination != (uint32_t)gompi_net.rank)
		return "destination";
	if (h.source >= (uint32_t)gompi_net.size || gompi_on_node((int)h.source) >= 0)
		return "source";
	if (h.kind == GOMPI_FRAME_CREDITS || h.kind == GOMPI_FRAME_ASK || h.kind == GOMPI_FRAME_CONNECT)
		return length == sizeof h ? NULL : "records in a frame of credits";
	if (h.kind != GOMPI_FRAME_RECORDS)
		return "kind";
	size_t at = sizeof h;
	while (at < length) { // a multiple of 8 is left
		struct gompi_record_head r;
		memcpy(&r, bytes + at, sizeof r);
		at += sizeof r;
		if (r.port >= FABRIC_PORTS || r.zero != 0 || r.length > GOMPI_FABRIC_RECORD)
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
		const struct gompi_port_handler *h = gompi_ports[r->port];
		at += sizeof *r;
		if (h != NULL)
			h->record(peer, bytes + at, r->length);
		at += GOMPI_ALIGN8(r->length);
	}
}
