// The inbox of a lane: a ring in shared memory that any thread of any process of the node puts records into and that
// its owner takes them out of.
//
// A record begins on a line and is contiguous: what does not fit before the end is preceded by a padding record. A
// producer reserves lines by moving the tail, writes the record and then, with release order, its seal: the position
// plus a key that the owner has drawn by lot. Positions grow for ever, so no two records of an inbox have the same
// seal, and the data of an old one, which may lie where the next record will begin, has it by a chance of 1 in 2^64
// only. So the owner need not clear what it gives back, and never writes to the lines.
//
// A producer that dies before it has written the seal stops the ring: waits that need the owner then end with
// MPI_ERR_PROC_ABORTED (base/loss.c).
#ifndef GOMPI_MESSAGE_INBOX_H
#define GOMPI_MESSAGE_INBOX_H

#include "base/node.h"
#include "message/record.h"

// Of a process there are so many, each of so many bytes (core/shm.MessageRingSize is all of them). A communicator's
// messages have one lane for good, so that threads which use different communicators mostly share nothing.
enum { GOMPI_LANES = 4, GOMPI_INBOX_SIZE = 256 << 10, GOMPI_MOST_PROCESSES = 4096 };

struct gompi_inbox {
	_Alignas(GOMPI_LINE) gompi_a64 tail; // bytes ever reserved by producers; positions grow for ever
	_Alignas(GOMPI_LINE) gompi_a64 head; // bytes ever consumed; written by the owner only
	gompi_a32 wanted;                    // 1: a producer waits for room, see waiters
	_Alignas(GOMPI_LINE) gompi_a32 flow; // gompi_flow: what the owner asks of those who send
	gompi_a64 probe; // address in the owner's memory of a copy of token, to find out whether process_vm_readv
	gompi_a64 token; // reaches the owner
	gompi_a64 key;   // of the seals; set by the owner before anybody sends
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

// Room for a record.
struct gompi_room {
	struct gompi_record *record; // NULL: there is none now
	uint64_t seal;
};

// Takes room for a record of n bytes. head is where the producer keeps the inbox' head as it has last seen it. The room
// is published by gompi_inbox_publish, soon: what others reserve later is not seen before.
struct gompi_room gompi_inbox_reserve(struct gompi_inbox *b, gompi_a64 *head, int64_t n);

// Says what the record is, all else of which has been written, and lets the owner see it. Who sleeps is to be woken
// after.
static inline void gompi_inbox_publish(struct gompi_room room, uint64_t word) {
	room.record->word = word;
	gompi_store_release((gompi_a64 *)&room.record->seal, room.seal); // pairs with the acquire in gompi_inbox_has
}

// Records that process me of the node waits for room; the owner will tell it. Returns true if that was not recorded
// yet: then the caller tries once more, since there may have been room meanwhile.
bool gompi_inbox_want(struct gompi_inbox *b, int me);

// The owner's end, used under a lock: at is where the next record begins, head the same as a position, ahead of the
// announced one while a batch is taken.

// Where the record at a position lies.
static inline char *gompi_inbox_place(struct gompi_inbox *b, uint64_t head) { return b->data + head % INBOX_DATA; }

// Returns true if a record with this seal lies at a place.
static inline bool gompi_inbox_has(const char *at, uint64_t seal) {
	return gompi_load_acquire((gompi_a64 *)(uintptr_t)at) == seal; // pairs with the release in gompi_inbox_publish
}

// Returns true if no record that begins at a place has this word.
static inline bool gompi_inbox_damaged(const struct gompi_inbox *b, uint64_t word, const char *at) {
	int64_t n = gompi_record_length(word), left = b->data + INBOX_DATA - at;
	uint32_t kind = (uint32_t)(word >> 32) & 0xff;
	int64_t least = kind == RECORD_PAD ? 1 : RECORD_SIZE;
	return kind - RECORD_PAD >= RECORD_KINDS - RECORD_PAD || n < least || gompi_lines(n) > left;
}

// Where the next record after one of n bytes begins; its room is given back by gompi_inbox_announce.
static inline char *gompi_inbox_after(struct gompi_inbox *b, char *at, int64_t n) {
	char *end = at + gompi_lines(n);
	return end == b->data + INBOX_DATA ? b->data : end;
}

// Gives the room up to head back to the producers.
static inline void gompi_inbox_announce(struct gompi_inbox *b, uint64_t head) {
	gompi_store_release(&b->head, head); // pairs with the acquire in gompi_inbox_reserve
}

// Returns true if producers wait for room and should be told: not before half of the ring is free, so that each has
// something to do. The owner asks after each announcement, behind a full barrier, since a producer asks for room and
// then looks once more whether there is some.
static inline bool gompi_inbox_tells(struct gompi_inbox *b) {
	return __builtin_expect(gompi_load(&b->wanted) != 0, 0) &&
	       gompi_load(&b->tail) - gompi_load(&b->head) <= INBOX_DATA / 2;
}

// The next process from index i on, of n, that waits for room, which is forgotten; -1: none does any longer.
int gompi_inbox_waiting(struct gompi_inbox *b, int i, int n);

#pragma GCC visibility pop
#endif
