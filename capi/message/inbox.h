// The inbox of a lane: a ring in shared memory that any thread of any process of the node puts records into and that
// its owner takes them out of.
//
// A record begins on a line and is contiguous: what does not fit before the end is preceded by a padding record. A
// producer reserves lines by moving the tail, writes the record and then, with release order, its first word, which
// holds length and kind and is never 0. The owner takes records whose first word is not 0 and sets the first word of
// every line that it gives back to 0, so a line that was reserved but not published reads 0 whatever was in it before.
// A producer that dies between the two stops the ring: the owner's waits then end with MPI_ERR_PROC_ABORTED, since the
// node is broken.
#ifndef GOMPI_MESSAGE_INBOX_H
#define GOMPI_MESSAGE_INBOX_H

#include "base/node.h"
#include "message/record.h"

// Of a process there are so many, each of so many bytes (core/shm.MessageRingSize is all of them). A communicator's
// messages have one lane for good, so that threads which use different communicators mostly share nothing.
enum { GOMPI_LANES = 4, GOMPI_INBOX_SIZE = 64 << 10, GOMPI_MOST_PROCESSES = 4096 };

struct gompi_inbox {
	_Alignas(GOMPI_LINE) gompi_a64 tail; // bytes ever reserved by producers; positions grow for ever
	_Alignas(GOMPI_LINE) gompi_a64 head; // bytes ever consumed; written by the owner only
	gompi_a32 wanted;                    // 1: a producer waits for room, see waiters
	_Alignas(GOMPI_LINE) gompi_a32 flow; // gompi_flow: what the owner asks of those who send
	gompi_a64 probe; // address in the owner's memory of a copy of token, to find out whether process_vm_readv
	gompi_a64 token; // reaches the owner
	// a bit for each process of the node: it has messages for the owner and found no room
	_Alignas(GOMPI_LINE) gompi_a64 waiters[GOMPI_MOST_PROCESSES / 64];
	_Alignas(GOMPI_LINE) char data[];
};

enum { INBOX_DATA = (GOMPI_INBOX_SIZE - sizeof(struct gompi_inbox)) / GOMPI_LINE * GOMPI_LINE };

// What a process asks of those who send to it.
enum gompi_flow {
	FLOW_ALONG, // small messages come with their data
	FLOW_KEEP,  // standard sends keep theirs: this process holds too much that nobody has received
};

#pragma GCC visibility push(hidden)

static inline int64_t gompi_lines(int64_t n) { return (n + GOMPI_LINE - 1) & -(int64_t)GOMPI_LINE; }

// Takes room for a record of n bytes and returns it; NULL: there is none now. head is where the producer keeps the
// inbox' head as it has last seen it. The room is published by gompi_inbox_publish, soon: what others reserve later is
// not seen before.
struct gompi_record *gompi_inbox_reserve(struct gompi_inbox *b, gompi_a64 *head, int64_t n);

// Gives the record its first word: all but that has been written. Who sleeps is to be woken after.
static inline void gompi_inbox_publish(struct gompi_record *r, uint64_t word) {
	// release: pairs with the acquire in gompi_inbox_take
	gompi_store_release((gompi_a64 *)&r->word, word);
}

// Whether more than half of the ring is in use, looking again where the known head says so.
bool gompi_inbox_full(struct gompi_inbox *b, gompi_a64 *head);

// Records that process me of the node waits for room; the owner will tell it. Whether that was not recorded yet: then
// the caller tries once more, since there may have been room meanwhile.
bool gompi_inbox_want(struct gompi_inbox *b, int me);

// The owner's end, used under a lock: at is where the next record begins, head the same as a position, ahead of the
// announced one while a batch is taken.

// Where the record at a position lies.
static inline char *gompi_inbox_place(struct gompi_inbox *b, uint64_t head) { return b->data + head % INBOX_DATA; }

// The first word of the next record; 0: there is none. It stays until gompi_inbox_drop.
static inline uint64_t gompi_inbox_take(const char *at) {
	return gompi_load_acquire((gompi_a64 *)(uintptr_t)at); // pairs with the release in gompi_inbox_publish
}

// Whether no record begins with word at a place.
static inline bool gompi_inbox_damaged(const struct gompi_inbox *b, uint64_t word, const char *at) {
	int64_t n = gompi_record_length(word), left = b->data + INBOX_DATA - at;
	uint32_t kind = (uint32_t)(word >> 32) & 0xff;
	int64_t least = kind == RECORD_PAD ? 1 : RECORD_SIZE;
	return (int64_t)word >= 0 || kind - RECORD_PAD >= RECORD_KINDS - RECORD_PAD || n < least ||
	       gompi_lines(n) > left;
}

// Gives back the record of n bytes at a place, and returns where the next one begins; *head moves on. Its room is
// announced by gompi_inbox_announce.
static inline char *gompi_inbox_drop(struct gompi_inbox *b, char *at, int64_t n, uint64_t *head) {
	char *end = at + gompi_lines(n);
	*head += (uint64_t)(end - at);
	for (; at < end; at += GOMPI_LINE)
		gompi_store((gompi_a64 *)at, 0);
	return end == b->data + INBOX_DATA ? b->data : end;
}

// Gives the room up to head back to the producers. Whether some of them wait for it and should be told: not before half
// of the ring is free, so that each has something to do; there is another announcement before the ring is empty.
static inline bool gompi_inbox_announce(struct gompi_inbox *b, uint64_t head) {
	gompi_store_release(&b->head, head); // pairs with the acquire in gompi_inbox_reserve
	return __builtin_expect(gompi_load(&b->wanted) != 0, 0) && gompi_load(&b->tail) - head <= INBOX_DATA / 2;
}

// The next process from index i on, of n, that waits for room, which is forgotten; -1: none does any longer.
int gompi_inbox_waiting(struct gompi_inbox *b, int i, int n);

#pragma GCC visibility pop
#endif
