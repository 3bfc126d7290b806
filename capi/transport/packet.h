// One-sided operations as packets: what an origin writes and a target applies, and what it answers. They know nothing
// of what carries them.
//
// A packet is an operation, or the part of one whose data fits. Data that does not fit, or is better moved as a whole,
// may stay with the origin: then the packet says where it is (the _PULL kinds), and the target moves it itself.
#ifndef GOMPI_PACKET_H
#define GOMPI_PACKET_H

#include "datatype/datatype.h"
#include "transport/transport.h"

#pragma GCC visibility push(hidden)

enum gompi_packet_kind {
	PACKET_PUT = 1,
	PACKET_PUT_PULL,
	PACKET_GET,
	PACKET_GET_PULL,
	PACKET_ACCUMULATE, // from here on elements are updated
	PACKET_ACCUMULATE_PULL,
	PACKET_FETCH,
	PACKET_FETCH_PULL,
	PACKET_COMPARE_AND_SWAP,
	PACKET_LOCK = 0x20, // of epochs, not of operations: op is 1 if exclusive
	PACKET_UNLOCK,
	PACKET_FLUSH,           // nothing but the question
	PACKET_START,           // an access epoch begins when there is an exposure epoch for it
	PACKET_COMPLETE,        // and is complete
	PACKET_DONE,            // answers: what has been applied
	PACKET_RESULT,          // and what the packet with that number gives
	PACKET_IN_ORDER = 0x40, // added: pieces that may overlap
	PACKET_LAYOUT = 0x80,   // added: the data at the target is in pieces
};

// The flags of a head.
enum {
	PACKET_ASKS = 1,   // an answer is wanted, at once
	PACKET_BROKEN = 2, // of an answer: no packet after this number will be applied
};

// What packets and answers begin with.
struct gompi_packet_head {
	uint8_t kind, flags;
	uint16_t length; // bytes of data
	uint32_t window; // handle, the same at all members
	// Of the packet; of an answer, that of the last packet that has been applied. 0 in a ring, whose places say it.
	uint64_t number;
};

// A packet, and its data. Of the _PULL kinds: struct gompi_packet_pull; with PACKET_LAYOUT: struct gompi_packet_pieces;
// then the origin's data, and what MPI_Compare_and_swap compares with.
struct gompi_packet {
	struct gompi_packet_head head;
	int32_t origin;    // the sender: its number (base/process.h), between nodes its rank in the window
	uint16_t op, type; // predefined handles
	uint64_t offset;   // in the target's window, bytes
	uint64_t bytes;    // that are moved, or of the elements that are updated
	char data[];
};

// An answer, and the data that it brings. Between nodes it travels as a packet does; in a ring it is written over the
// packet, behind its head and origin.
struct gompi_answer {
	struct gompi_packet_head head;
	int32_t from;        // as origin; -1: from who knows no such window
	uint16_t class, why; // of the first error since the last answer, and its reason (win/why.h); 0: none
	uint64_t a, b;       // the reason's numbers
	char data[];
};

// The most data of a packet in a ring's cell: with what stands before it 1 KiB. The network takes more (stream.h).
enum { GOMPI_PACKET_DATA = 976 };

// The most data of an operation of the _PULL kinds: that of a buffer (bounce.h).
enum { PACKET_PULLED = 8192 };

// Where the buffers are that stay with the origin: addresses in its process, 0: none.
struct gompi_packet_pull {
	uint64_t origin, result;
};

// Where the data lies at the target: words of layout.h.
struct gompi_packet_pieces {
	int64_t n, word[];
};

// What an origin sends.
struct gompi_outgoing {
	const struct gompi_operation *operation;
	enum gompi_packet_kind kind; // without what is added
	uint64_t offset;             // in the target's window
	MPI_Datatype type;           // of the elements, MPI_BYTE for a move
	const void *origin;          // data here, NULL: none
	void *result;
	uint64_t element, bytes;     // of one element, of all
	struct gompi_cursor *pieces; // at the target; NULL: one piece at offset
	bool reply;
	bool in_order; // the pieces may overlap
};

// What a put or get sends between local and the target, whose pieces are the caller's affair.
static inline struct gompi_outgoing gompi_outgoing_move(const struct gompi_operation *operation,
							const struct gompi_buffer *at, char *local, int64_t bytes) {
	bool put = operation->kind == RMA_PUT, together = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	return (struct gompi_outgoing){.operation = operation,
				       .kind = put ? PACKET_PUT : PACKET_GET,
				       .offset = at->offset + (together ? (uint64_t)at->type->origin : 0),
				       .type = MPI_BYTE,
				       .origin = put ? local : NULL,
				       .result = put ? NULL : local,
				       .element = 1,
				       .bytes = (uint64_t)bytes};
}

// What an accumulate of arrays of elements sends, in the same way.
static inline struct gompi_outgoing gompi_outgoing_update(const struct gompi_operation *operation,
							  const struct gompi_buffer *at, MPI_Datatype element,
							  const char *origin, char *result) {
	const struct gompi_type *type = at->type;
	bool together = type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS;
	return (struct gompi_outgoing){.operation = operation,
				       .kind = operation->kind == RMA_COMPARE_AND_SWAP ? PACKET_COMPARE_AND_SWAP
					       : operation->kind == RMA_ACCUMULATE     ? PACKET_ACCUMULATE
										       : PACKET_FETCH,
				       .offset = at->offset + (together ? (uint64_t)type->elem_origin : 0),
				       .type = element,
				       .origin = origin,
				       .result = result,
				       .element = (uint64_t)type->elem_size,
				       .bytes = (uint64_t)(at->count * type->elements * type->elem_size),
				       .in_order = !together && gompi_type_overlaps(type, at->count)};
}

// What is left to send of an operation after bytes of it.
static inline struct gompi_outgoing gompi_outgoing_rest(const struct gompi_outgoing *whole, uint64_t bytes) {
	struct gompi_outgoing o = *whole;
	o.bytes -= bytes;
	if (o.pieces == NULL)
		o.offset += bytes;
	if (o.origin != NULL)
		o.origin = (const char *)o.origin + bytes;
	if (o.result != NULL)
		o.result = (char *)o.result + bytes;
	return o;
}

static inline bool gompi_packet_pulls(enum gompi_packet_kind kind) {
	return kind == PACKET_PUT_PULL || kind == PACKET_GET_PULL || kind == PACKET_ACCUMULATE_PULL ||
	       kind == PACKET_FETCH_PULL;
}

// Writes a packet for a member of w into memory with room for so many bytes behind its header: as much as fits, but of
// what is moved or updated no more than `most` bytes, after which o->bytes says how much of the operation that is. Both
// are multiples of 8 below 64 KiB. What lies together and need not be divided has room enough.
void gompi_packet_write(struct gompi_packet *m, const struct gompi_win *w, struct gompi_outgoing *o, uint64_t room,
			uint64_t most);

// Moves bytes between memory here and an address of another process. Returns true if it could.
typedef bool gompi_packet_mover(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Applies a packet, of which this is a copy that nobody else can write: whatever it says is checked, since another
// process has written it. Its data may have `most` bytes; what comes back is stored to reply, which has as much room,
// m->bytes of them. pull moves the data that has stayed with the origin, and one thread at a time may give one; NULL:
// that data cannot be moved. 0 or an error class; MPI_ERR_UNSUPPORTED_OPERATION: nothing has been done since the data
// cannot be moved.
int gompi_packet_apply(const struct gompi_packet *m, char *reply, uint64_t most, gompi_packet_mover *pull);

// The same for a PACKET_PUT without pieces, to w, the window that it names.
int gompi_packet_put(struct gompi_win *w, const struct gompi_packet *m, uint64_t most);

#pragma GCC visibility pop
#endif
