// The head of a message in a network that does not authenticate its connections. The sender proves that it knows the
// secret of the receiver's job. The head is directly in front of the message.
#ifndef GOMPI_NET_MESSAGE_HEAD_H
#define GOMPI_NET_MESSAGE_HEAD_H

#include <string.h>

#include "base/siphash.h"
#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

struct gompi_message_head {
	uint64_t mac;         // authentication code of the rest of the head and of the message's first 8 bytes
	uint32_t source;      // number of the sender in its universe
	uint32_t destination; // number of the receiver in its universe
	uint64_t bytes;       // length of the message without this head
	uint64_t universe;    // of the sender
};
_Static_assert(sizeof(struct gompi_message_head) <= GOMPI_NET_HEAD_BYTES, "space in front of a message");

// A peer of another job, as in struct gompi_net_foreign.
struct gompi_foreign_name {
	uint64_t universe;
	uint32_t number;
	uint64_t secret[2];
};

// How messages name this process and its peers. The peers below `size` are of this process' universe.
struct gompi_message_names {
	uint64_t universe, secret[2];
	int self, size, capacity;
	struct gompi_foreign_name *foreign; // peers `size` to `capacity` - 1
	int32_t *by_name;                   // hash table of these peers; 0 if the entry is free
	uint64_t mask;                      // number of entries - 1
};

// Returns false if out of memory.
bool gompi_message_names_open(struct gompi_message_names *t, const struct gompi_net_job *job);
void gompi_message_names_close(struct gompi_message_names *t);
// Adds a peer. It replaces an earlier peer with the same universe and number, which has ended.
void gompi_message_names_add(struct gompi_message_names *t, const struct gompi_net_foreign *f);
// Returns the peer of another universe that has this name, or -1.
int gompi_message_names_find(const struct gompi_message_names *t, uint64_t universe, uint32_t number);

static inline uint64_t gompi_message_mac(const struct gompi_message_head *h, const char *at, const uint64_t secret[2]) {
	uint64_t words[] = {h->source | (uint64_t)h->destination << 32, h->bytes, h->universe, 0};
	memcpy(&words[3], at, sizeof words[3]);
	return gompi_siphash(secret, words, sizeof words / sizeof *words);
}

// Writes the head of the message `at` of at least 8 bytes for a peer. Returns the address of the head.
static inline char *gompi_message_head_write(char *at, size_t bytes, int peer, const struct gompi_message_names *t) {
	const struct gompi_foreign_name *f = peer < t->size ? NULL : &t->foreign[peer - t->size];
	struct gompi_message_head h = {.source = (uint32_t)t->self,
				       .destination = f == NULL ? (uint32_t)peer : f->number,
				       .bytes = bytes,
				       .universe = t->universe};
	h.mac = gompi_message_mac(&h, at, f == NULL ? t->secret : f->secret);
	memcpy(at - sizeof h, &h, sizeof h);
	return at - sizeof h;
}

// Returns the peer that a head names as the sender, or -1.
static inline int gompi_message_sender(const struct gompi_message_head *h, const struct gompi_message_names *t) {
	if (h->universe != t->universe)
		return gompi_message_names_find(t, h->universe, h->source);
	return h->source < (uint32_t)t->size ? (int)h->source : -1;
}

// Returns the sender of a message `at` of `bytes` bytes, whose head is *h. Returns -1 if the message is not for this
// process, or does not come from a peer.
static inline int gompi_message_source(const struct gompi_message_head *h, const char *at, size_t bytes,
				       const struct gompi_message_names *t) {
	return bytes >= sizeof(uint64_t) && h->bytes == bytes && h->mac == gompi_message_mac(h, at, t->secret) &&
			       h->destination == (uint32_t)t->self
		       ? gompi_message_sender(h, t)
		       : -1;
}

#pragma GCC visibility pop
#endif
