// Records: what processes tell each other to move messages; on a node through inboxes (inbox.h), between nodes by the
// network (remote.h).
#ifndef GOMPI_MESSAGE_RECORD_H
#define GOMPI_MESSAGE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum gompi_record_kind {
	RECORD_PAD = 1, // a ring's own: fills the end of the data
	RECORD_EAGER,   // a message with its data
	RECORD_RTS,     // a message whose data stays with the sender until it is matched ("ready to send")
	RECORD_CTS,     // to the sender: send the data as pieces
	RECORD_PIECE,   // a part of the data
	RECORD_ACK,     // to the sender: the message is matched (eager) or its data has been taken
	RECORD_ROOM,    // to a process that waited for room: there is some
	RECORD_CANCEL,  // to the receiver: the message is not wanted any longer
	RECORD_GONE,    // to the sender: the message is not here any longer
	RECORD_LOOK,    // to receivers: the process waits for all that it has sent before to be taken
	RECORD_FLOW,    // to a process on another node: gompi_flow
	RECORD_KINDS
};

// Bits of the word that says what a record is: 0..31 length in bytes, 32..39 kind, 40..47 flags.
enum {
	RECORD_SYNC = 1, // eager: the sender waits for an acknowledgement
	RECORD_ADDR = 2, // RTS: the payload is a list of segments of the sender's memory
	RECORD_CALL = 4, // eager with RECORD_SYNC, RTS: the sender's process is to look at the acknowledgement at once
	RECORD_WAIT = 8, // RTS: the sender waits for the message to be taken
	RECORD_REGION = 16, // RTS, between nodes: the payload is the region of the sender's memory
	RECORD_LAST = 32,   // CANCEL, between nodes: not before the receiver is in MPI_Finalize, as the sender is
};

// The fixed part of a record. What is sent with it follows.
struct gompi_record {
	uint64_t seal; // inbox.h; between nodes: number of the lane
	uint64_t word;
	uint64_t context; // PIECE: offset of the piece; CTS: number of the receive
	int32_t source;   // rank of the sender in the communicator
	int32_t tag;
	int32_t from;  // rank of the sending process in MPI_COMM_WORLD
	int32_t class; // ACK: error class, 0: none
	uint64_t size; // bytes of the whole message; CTS: bytes wanted; FLOW: what is asked
	uint64_t id;   // of the request that answers go to; CTS, PIECE, ACK, GONE: of the one that this is for
};

enum { RECORD_SIZE = sizeof(struct gompi_record), RECORD_LINE = 64, RECORD_MOST_DATA = 16 << 10 };
_Static_assert(RECORD_SIZE == RECORD_LINE - 8, "a record with 8 bytes of data is one line");

// The bytes of a record with n bytes of data, and the other way round. What does not fit into the first line begins on
// the second: stores that lie across two lines cost twice.
static inline int64_t gompi_record_size(int64_t n) { return (n <= 8 ? RECORD_SIZE : RECORD_LINE) + n; }
static inline int64_t gompi_record_data_size(int64_t size) {
	return size - (size <= RECORD_LINE ? RECORD_SIZE : RECORD_LINE);
}
// Where n bytes of data lie.
static inline char *gompi_record_data(struct gompi_record *r, int64_t n) {
	return (char *)r + (n <= 8 ? RECORD_SIZE : RECORD_LINE);
}

// The word of a record of n bytes.
static inline uint64_t gompi_record_word(enum gompi_record_kind kind, unsigned flags, int64_t n) {
	return (uint64_t)flags << 40 | (uint64_t)kind << 32 | (uint64_t)n;
}

static inline enum gompi_record_kind gompi_record_kind(uint64_t word) {
	return (enum gompi_record_kind)(word >> 32 & 0xff);
}
// Returns true if a record answers one that the peer has sent, so that there is always room on the network.
static inline bool gompi_record_is_answer(enum gompi_record_kind kind) {
	return kind == RECORD_ACK || kind == RECORD_CTS || kind == RECORD_GONE;
}
static inline unsigned gompi_record_flags(uint64_t word) { return word >> 40 & 0xff; }
static inline int64_t gompi_record_length(uint64_t word) { return (int64_t)(uint32_t)word; }

#endif
