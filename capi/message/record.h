// Records: the units of the message protocol between processes. On a node they go through inboxes (inbox.h), between
// nodes through the network (remote.h).
#ifndef GOMPI_MESSAGE_RECORD_H
#define GOMPI_MESSAGE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum gompi_record_kind {
	RECORD_PAD = 1,  // padding at the end of a ring's data
	RECORD_EAGER,    // a message with its data
	RECORD_RTS,      // a message whose data stays with the sender until it is matched ("ready to send")
	RECORD_CTS,      // to the sender: send the data in fragments (RECORD_FRAGMENT)
	RECORD_FRAGMENT, // a fragment of the data
	RECORD_ACK,      // to the sender: the message is matched (eager) or its data has been read (RTS)
	RECORD_SPACE,    // to a process that waits for space in the inbox: there is space now
	RECORD_CANCEL,   // to the receiver: the sender withdraws the message
	RECORD_DROPPED,  // to the sender: the receiver has discarded the message, so no call receives it
	RECORD_REMINDER, // to receivers: the sender waits until its earlier messages are received
	RECORD_FLOW,     // to a process on another node: requests a protocol (enum gompi_flow in `size`)
	RECORD_REVOKE,   // the communicator with the id `context` is revoked (MPIX_Comm_revoke)
	RECORD_KIND_COUNT
};

// Flags of a record. The word of a record holds: bits 0..31 length in bytes, 32..39 kind, 40..47 flags.
enum {
	RECORD_SYNC = 1,     // eager: the sender waits for an acknowledgement
	RECORD_SEGMENTS = 2, // RTS: the payload is a list of segments of the sender's memory
	// eager with RECORD_SYNC, RTS: the acknowledgement must notify the sender's progress thread
	RECORD_DOORBELL = 4,
	RECORD_SENDER_WAITS = 8, // RTS: a thread of the sender waits until the message is received
	RECORD_REGION = 16,      // RTS, between nodes: the payload is the region (remote key) of the sender's memory
	// CANCEL, between nodes: the sender is in MPI_Finalize. The receiver withdraws the message only once the
	// receiver is in MPI_Finalize too.
	RECORD_FINALIZE = 32,
	RECORD_IF_OPEN = 64, // eager, between nodes: the receiver drops the message if the context has no queue
};

// The fixed part of a record. The payload follows.
struct gompi_record {
	uint64_t valid_flag; // on a node: marks a complete record (inbox.h); between nodes: index of the VCI
	uint64_t word;
	uint64_t context; // context of the message; FRAGMENT: offset of its data; CTS: id of the receive
	int32_t source;   // rank of the sender in the communicator
	int32_t tag;
	int32_t from;  // process number of the sender (base/process.h)
	int32_t class; // ACK: error class, or MPI_SUCCESS
	uint64_t size; // bytes of the whole message; CTS: number of bytes to send; FLOW: enum gompi_flow
	uint64_t id;   // CTS, FRAGMENT, ACK, DROPPED: id of the addressed request; others: id for the answers, or 0
};

enum { RECORD_SIZE = sizeof(struct gompi_record), RECORD_LINE = 64, RECORD_MAX_DATA = 32 << 10 };
_Static_assert(RECORD_SIZE == RECORD_LINE - 8, "a record with 8 bytes of data is one line");

// Returns the size of a record with n bytes of data; gompi_record_data_size is the inverse. Data that does not fit into
// the first cache line begins on the second, because a store that crosses a line boundary costs twice as much.
static inline int64_t gompi_record_size(int64_t n) { return (n <= 8 ? RECORD_SIZE : RECORD_LINE) + n; }
static inline int64_t gompi_record_data_size(int64_t size) {
	return size - (size <= RECORD_LINE ? RECORD_SIZE : RECORD_LINE);
}
// Returns the address of the data of a record with n bytes of data.
static inline char *gompi_record_data(struct gompi_record *r, int64_t n) {
	return (char *)r + (n <= 8 ? RECORD_SIZE : RECORD_LINE);
}

// Returns the word of a record whose total size is n bytes.
static inline uint64_t gompi_record_word(enum gompi_record_kind kind, unsigned flags, int64_t n) {
	return (uint64_t)flags << 40 | (uint64_t)kind << 32 | (uint64_t)n;
}

static inline enum gompi_record_kind gompi_record_kind(uint64_t word) {
	return (enum gompi_record_kind)(word >> 32 & 0xff);
}
// Returns true if records of this kind answer a record of the peer. The network always has space for answers.
static inline bool gompi_record_is_answer(enum gompi_record_kind kind) {
	return kind == RECORD_ACK || kind == RECORD_CTS || kind == RECORD_DROPPED;
}
static inline unsigned gompi_record_flags(uint64_t word) { return word >> 40 & 0xff; }
static inline int64_t gompi_record_length(uint64_t word) { return (int64_t)(uint32_t)word; }

#endif
