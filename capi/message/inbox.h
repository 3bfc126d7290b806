// The inbox of a VCI: a multi-producer, single-consumer ring in shared memory. Any thread of any process of the node
// may write records; the owner consumes them.
//
// A record begins on a cache line and is contiguous. If it does not fit before the end of the ring, a padding record
// precedes it. A producer reserves lines by moving the tail, writes the record, and then stores the record's valid flag
// with release order. The valid flag is the record's position plus a random key of the owner. Positions never repeat,
// so no two records of an inbox have the same valid flag. Data of an old record may lie where the next record will
// begin. This data equals the expected flag only with a probability of 1 in 2^58. Therefore the owner need not clear
// the space that it releases, and never writes to the lines.
//
// The low 6 bits of a valid flag are 0. While a producer writes a long payload, it stores interim flags: the valid flag
// plus 1 plus the number of complete chunks of the payload. So the owner can copy the first chunks while the producer
// writes the following ones. The owner may ignore interim flags.
//
// A producer that fails before it has written the valid flag blocks the ring. Waits that need the owner then end with
// MPI_ERR_PROC_ABORTED (base/failure.c).
#ifndef GOMPI_MESSAGE_INBOX_H
#define GOMPI_MESSAGE_INBOX_H

#include "base/node.h"
#include "message/record.h"

// A process has GOMPI_VCI_COUNT inboxes of GOMPI_INBOX_SIZE bytes each (core/shm.MessageRingSize is the sum). A
// communicator uses one VCI permanently. There are several VCIs so that threads that use different communicators rarely
// share an inbox.
enum { GOMPI_VCI_COUNT = 4, GOMPI_INBOX_SIZE = 256 << 10, GOMPI_MAX_NODE_PROCESSES = 4096 };

struct gompi_inbox {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 tail; // bytes that producers have reserved since the start; never wraps
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 head; // bytes released to producers so far; only the owner writes it
	gompi_a32 has_waiters;                     // 1 if a producer waits for space (waiters)
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 flow; // enum gompi_flow; the owner writes it, senders read it
	// probe_address: address of a copy of probe_value in the owner's memory. Peers read the copy to find out
	// whether process_vm_readv reaches the owner.
	gompi_a64 probe_address;
	gompi_a64 probe_value;
	gompi_a64 key; // key of the valid flags; the owner sets it before any process sends
	// Bit i: process i of the node has records for the owner and found no space.
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 waiters[GOMPI_MAX_NODE_PROCESSES / 64];
	_Alignas(GOMPI_CACHE_LINE) char data[];
};

enum { INBOX_DATA = (GOMPI_INBOX_SIZE - sizeof(struct gompi_inbox)) / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE };

// Flow control: the protocol that a process requests from its senders.
enum gompi_flow {
	FLOW_EAGER,      // small messages are eager
	FLOW_RENDEZVOUS, // senders keep all data (rendezvous): this process holds too many unexpected bytes
};

#pragma GCC visibility push(hidden)

static inline int64_t gompi_round_to_lines(int64_t n) {
	return (n + GOMPI_CACHE_LINE - 1) & -(int64_t)GOMPI_CACHE_LINE;
}

// Reserved space for a record.
struct gompi_reservation {
	struct gompi_record *record; // NULL if there is no space now
	uint64_t valid_flag;
};

// Reserves space for a record of n bytes. The argument `head` points to the producer's cached copy of the inbox' head.
// The caller must soon call gompi_inbox_publish: until then the owner cannot read any record that is reserved later.
struct gompi_reservation gompi_inbox_reserve(struct gompi_inbox *b, gompi_a64 *head, int64_t n);

// Stores the record's word and publishes the record to the owner. The caller has written the payload and all other
// fields, and wakes a sleeping owner afterwards.
static inline void gompi_inbox_publish(struct gompi_reservation space, uint64_t word) {
	space.record->word = word;
	gompi_store_release((gompi_a64 *)&space.record->valid_flag,
			    space.valid_flag); // pairs with the acquire in gompi_inbox_has_record
}

// The bytes of a chunk of a long payload, and the least payload that is written in chunks.
enum { INBOX_CHUNK_BYTES = 4096, INBOX_MIN_CHUNKED_BYTES = 8192 };
_Static_assert(RECORD_MAX_DATA / INBOX_CHUNK_BYTES + 1 < GOMPI_CACHE_LINE, "interim flags have 6 bits");

// Publishes a record before its payload is complete. The caller has written all fields and `chunks` chunks of the
// payload.
static inline void gompi_inbox_publish_interim(struct gompi_reservation space, uint64_t word, int chunks) {
	gompi_inbox_publish((struct gompi_reservation){space.record, space.valid_flag + 1 + (uint64_t)chunks}, word);
}

// Returns the number of complete chunks plus 1 if the record at address `at` has an interim flag. Returns 0 if it has
// its valid flag, and a value of at least GOMPI_CACHE_LINE if it has neither.
static inline uint64_t gompi_inbox_interim(const char *at, uint64_t valid_flag) {
	return gompi_load_acquire((gompi_a64 *)(uintptr_t)at) -
	       valid_flag; // pairs with the release in gompi_inbox_publish
}

// Registers that the process with index `me` on the node waits for space. The owner will notify this process. Returns
// true if the process was not registered before. The caller must then try to reserve space once more, because the owner
// may have released space before it could see the registration.
bool gompi_inbox_register_waiter(struct gompi_inbox *b, int me);

// Drops all records and registrations, which an earlier process with the same index on the node has left. The owner
// calls it before any process sends. Positions continue, since other processes may have cached the head.
void gompi_inbox_clear(struct gompi_inbox *b);

// Only the owner calls the following functions, under the VCI's lock. The argument `at` is the address of the next
// record, and `head` is its position. While the owner consumes a batch, `head` is ahead of the position up to which
// space is released.

// Returns the address of the record at a position.
static inline char *gompi_inbox_at(struct gompi_inbox *b, uint64_t head) { return b->data + head % INBOX_DATA; }

// Returns true if a record with this valid flag begins at address `at`.
static inline bool gompi_inbox_has_record(const char *at, uint64_t valid_flag) {
	return gompi_load_acquire((gompi_a64 *)(uintptr_t)at) ==
	       valid_flag; // pairs with the release in gompi_inbox_publish
}

// Returns true if `word` is not valid for a record that begins at address `at`: the kind is unknown, the length is too
// small, or the record would pass the end of the ring.
static inline bool gompi_inbox_is_damaged(const struct gompi_inbox *b, uint64_t word, const char *at) {
	int64_t n = gompi_record_length(word), left_bytes = b->data + INBOX_DATA - at;
	uint32_t kind = (uint32_t)(word >> 32) & 0xff;
	int64_t min_bytes = kind == RECORD_PAD ? 1 : RECORD_SIZE;
	return kind - RECORD_PAD >= RECORD_KIND_COUNT - RECORD_PAD || n < min_bytes ||
	       gompi_round_to_lines(n) > left_bytes;
}

// Returns the address of the record that follows a record of n bytes at address `at`. gompi_inbox_release later
// releases the space.
static inline char *gompi_inbox_next_record(struct gompi_inbox *b, char *at, int64_t n) {
	char *end = at + gompi_round_to_lines(n);
	return end == b->data + INBOX_DATA ? b->data : end;
}

// Releases the space up to head to the producers.
static inline void gompi_inbox_release(struct gompi_inbox *b, uint64_t head) {
	gompi_store_release(&b->head, head); // pairs with the acquire in gompi_inbox_reserve
}

// Returns true if producers wait for space and should be notified: at least half of the ring must be free, so that each
// producer can send several records. The owner calls this after each gompi_inbox_release and a full fence. The producer
// registers in waiters and then tries again (gompi_inbox_register_waiter). Without the fence, owner and producer could
// miss each other's store, and the producer would wait forever.
static inline bool gompi_inbox_should_notify(struct gompi_inbox *b) {
	return __builtin_expect(gompi_load(&b->has_waiters) != 0, 0) &&
	       gompi_load(&b->tail) - gompi_load(&b->head) <= INBOX_DATA / 2;
}

// Returns the next process with an index in [i, n) that waits for space, and removes its registration. Returns -1 if
// none waits. A scan of all processes begins with i = 0; the call with i = 0 clears has_waiters before it reads
// `waiters`.
int gompi_inbox_next_waiter(struct gompi_inbox *b, int i, int n);

#pragma GCC visibility pop
#endif
