// The head of a message in a network that does not authenticate its connections. The sender proves that it belongs to
// the job. The head is directly in front of the message.
#ifndef GOMPI_NET_MESSAGE_HEAD_H
#define GOMPI_NET_MESSAGE_HEAD_H

#include <string.h>

#include "base/siphash.h"
#include "net/net_ops.h"

struct gompi_message_head {
	uint64_t mac;         // authentication code of the rest of the head and of the message's first 8 bytes
	uint32_t source;      // rank in MPI_COMM_WORLD
	uint32_t destination; // rank in MPI_COMM_WORLD
	uint64_t bytes;       // length of the message without this head
};
_Static_assert(sizeof(struct gompi_message_head) <= GOMPI_NET_HEAD_BYTES, "space in front of a message");

static inline uint64_t gompi_message_mac(const struct gompi_message_head *h, const char *at, const uint64_t secret[2]) {
	uint64_t words[] = {h->source | (uint64_t)h->destination << 32, h->bytes, 0};
	memcpy(&words[2], at, sizeof words[2]);
	return gompi_siphash(secret, words, sizeof words / sizeof *words);
}

// Writes the head of the message `at` of at least 8 bytes. Returns the address of the head.
static inline char *gompi_message_head_write(char *at, size_t bytes, int source, int destination,
					     const uint64_t secret[2]) {
	struct gompi_message_head h = {
		.source = (uint32_t)source, .destination = (uint32_t)destination, .bytes = bytes};
	h.mac = gompi_message_mac(&h, at, secret);
	memcpy(at - sizeof h, &h, sizeof h);
	return at - sizeof h;
}

// Returns the sender of a message `at` of `bytes` bytes for process `self`, whose head is *h. Returns -1 if the message
// does not come from a process of the job.
static inline int gompi_message_source(const struct gompi_message_head *h, const char *at, size_t bytes, int self,
				       int size, const uint64_t secret[2]) {
	return bytes >= sizeof(uint64_t) && h->bytes == bytes && h->mac == gompi_message_mac(h, at, secret) &&
			       h->destination == (uint32_t)self && h->source < (uint32_t)size
		       ? (int)h->source
		       : -1;
}

#endif
