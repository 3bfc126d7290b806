// One-sided operations as packets, which an origin writes and a target applies, and the target's answers. This file
// does not depend on how packets are carried: by a ring on a node, or by a stream between nodes.
//
// A packet holds an operation, or as much of an operation as fits. If the data does not fit, a packet may instead name
// a bounce buffer of the origin (bounce.h) that holds the data (PACKET_*_PULL). The target then copies the data from
// this buffer.
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
	PACKET_ACCUMULATE, // PACKET_ACCUMULATE to PACKET_COMPARE_AND_SWAP update elements
	PACKET_ACCUMULATE_PULL,
	PACKET_FETCH,
	PACKET_FETCH_PULL,
	PACKET_COMPARE_AND_SWAP,
	// PACKET_LOCK to PACKET_COMPLETE synchronize; `op` of PACKET_LOCK is 1 for an exclusive lock
	PACKET_LOCK = 0x20,
	PACKET_UNLOCK,
	PACKET_FLUSH,           // no operation: only requests an answer
	PACKET_START,           // begins an access epoch when the target has opened a matching exposure epoch
	PACKET_COMPLETE,        // ends the access epoch
	PACKET_DONE,            // answer: acknowledges applied packets
	PACKET_RESULT,          // answer: result of the packet with the number in the head
	PACKET_IN_ORDER = 0x40, // flag: segments may overlap, so they must be updated in order
	PACKET_LAYOUT = 0x80,   // flag: the data at the target is not contiguous
};

// Flags in the field `flags` of struct gompi_packet_head.
enum {
	PACKET_WANTS_ANSWER = 1, // the sender wants an answer at once
	PACKET_STREAM_END = 2,   // in an answer: the target applies no packet after this number
};

// The head of packets and answers.
struct gompi_packet_head {
	uint8_t kind, flags;
	uint16_t length; // bytes of data
	uint32_t window; // handle of the window, which is the same at all members
	// Sequence number of a packet; in an answer, the number of the last packet applied. 0 in a ring, where the
	// position of the packet is its number.
	uint64_t number;
};

// A packet. The field `data` has these parts, in this order: struct gompi_packet_pull (only in PACKET_*_PULL), struct
// gompi_packet_layout (only with PACKET_LAYOUT), the origin's data, the compare value of MPI_Compare_and_swap.
struct gompi_packet {
	struct gompi_packet_head head;
	int32_t origin;    // sender: in a ring its process number (base/process.h), in a stream its rank in the window
	uint16_t op, type; // predefined handles of the operation and of the element type
	uint64_t offset;   // offset in the target's window in bytes; in a dynamic window an address of the target
	uint64_t bytes;    // bytes to move, or bytes of the elements to update
	char data[];
};

// An answer. Between nodes it is sent like a packet. In a ring, the target writes the answer over the packet in its
// cell, and leaves the packet's head and origin unchanged.
struct gompi_answer {
	struct gompi_packet_head head;
	int32_t from; // sender: its rank in the window; -1 if the sender does not know the window
	uint16_t class,
		detail_code; // class of the first error since the last answer, and code of its detail; 0 if none
	uint64_t a, b;       // the values a and b of the error detail (win/error_detail.h)
	char data[];
};

// Maximum bytes of data of a packet in a ring. Together with the cell's state and the packet's header, this data fills
// a cell of 1 KiB. Between nodes the maximum is larger (stream.h).
enum { GOMPI_PACKET_DATA = 976 };

// Maximum bytes of data of a PACKET_*_PULL operation: the size of a bounce buffer (bounce.h).
enum { PACKET_MAX_PULL_BYTES = 8192 };

// Names of the origin's bounce buffers (gompi_bounce_address). The field `origin` names the buffer that holds the data,
// and `result` names the buffer that receives the result. A field is 0 if there is no buffer.
struct gompi_packet_pull {
	uint64_t origin, result;
};

// Layout of the data at the target: word_count words in the format of layout.h.
struct gompi_packet_layout {
	int64_t word_count, words[];
};

// An operation at the origin, to be sent as packets.
struct gompi_outgoing {
	const struct gompi_operation *operation;
	enum gompi_packet_kind kind; // the kind; the flags PACKET_IN_ORDER and PACKET_LAYOUT are not set
	uint64_t offset;    // offset in the target's window in bytes; in a dynamic window an address of the target
	MPI_Datatype type;  // type of the elements; MPI_BYTE for a put or get
	const void *origin; // local data, or the name of a bounce buffer; NULL if none; `result` likewise
	void *result;
	uint64_t element_bytes, bytes; // size of one element; total size
	struct gompi_cursor *cursor;   // layout at the target; NULL if the data is contiguous at `offset`
	bool wants_reply;              // the origin waits for the result of each packet (ring only)
	bool in_order;                 // segments may overlap (PACKET_IN_ORDER)
};

// Describes a put or get between the memory `local` and the target's buffer `at`. The caller sets the field cursor if
// the target's data is not contiguous.
static inline struct gompi_outgoing gompi_outgoing_move(const struct gompi_operation *operation,
							const struct gompi_buffer *at, char *local, int64_t bytes) {
	bool put = operation->kind == RMA_PUT, is_contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	return (struct gompi_outgoing){.operation = operation,
				       .kind = put ? PACKET_PUT : PACKET_GET,
				       .offset = at->offset + (is_contiguous ? (uint64_t)at->type->origin : 0),
				       .type = MPI_BYTE,
				       .origin = put ? local : NULL,
				       .result = put ? NULL : local,
				       .element_bytes = 1,
				       .bytes = (uint64_t)bytes};
}

// Describes an accumulate of arrays of elements. The caller sets the field cursor if the target's data is not
// contiguous.
static inline struct gompi_outgoing gompi_outgoing_update(const struct gompi_operation *operation,
							  const struct gompi_buffer *at, MPI_Datatype element,
							  const char *origin, char *result) {
	const struct gompi_type *type = at->type;
	bool is_contiguous = type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS;
	return (struct gompi_outgoing){.operation = operation,
				       .kind = operation->kind == RMA_COMPARE_AND_SWAP ? PACKET_COMPARE_AND_SWAP
					       : operation->kind == RMA_ACCUMULATE     ? PACKET_ACCUMULATE
										       : PACKET_FETCH,
				       .offset = at->offset + (is_contiguous ? (uint64_t)type->elem_origin : 0),
				       .type = element,
				       .origin = origin,
				       .result = result,
				       .element_bytes = (uint64_t)type->elem_size,
				       .bytes = (uint64_t)(at->count * type->elements * type->elem_size),
				       .in_order = !is_contiguous && gompi_type_overlaps(type, at->count)};
}

// Returns the part of an operation that remains to be sent after its first `bytes` bytes.
static inline struct gompi_outgoing gompi_outgoing_after(const struct gompi_outgoing *whole, uint64_t bytes) {
	struct gompi_outgoing o = *whole;
	o.bytes -= bytes;
	if (o.cursor == NULL)
		o.offset += bytes;
	if (o.origin != NULL)
		o.origin = (const char *)o.origin + bytes;
	if (o.result != NULL)
		o.result = (char *)o.result + bytes;
	return o;
}

static inline bool gompi_packet_is_pull(enum gompi_packet_kind kind) {
	return kind == PACKET_PUT_PULL || kind == PACKET_GET_PULL || kind == PACKET_ACCUMULATE_PULL ||
	       kind == PACKET_FETCH_PULL;
}

// Writes a packet for a member of w, with as much of the operation o as fits, and sets o->bytes to the bytes that the
// packet moves or updates. The argument data_bytes is the space after the packet's header, and max_bytes is the maximum
// of o->bytes. Both arguments are multiples of 8 below 64 KiB. For contiguous data, data_bytes must be at least
// min(o->bytes, max_bytes).
void gompi_packet_write(struct gompi_packet *m, const struct gompi_win *w, struct gompi_outgoing *o,
			uint64_t data_bytes, uint64_t max_bytes);

// Moves `bytes` bytes between the memory `local` and the buffer to which process `peer` has given the name `address`
// (gompi_bounce_move). If `write` is true, the data moves from `local` to the buffer. Returns true on success.
typedef bool gompi_pull_function(int peer, uint64_t address, void *local, uint64_t bytes, bool write);

// Applies a packet at the target. Validates every field, because another process has written the packet. So *m must be
// a private copy. The packet's data and the result have at most max_bytes bytes each. Stores the result (m->bytes
// bytes) in the buffer `reply`, unless the packet is a PACKET_*_PULL. The function `pull` moves the data of
// PACKET_*_PULL packets. Only one thread at a time may call gompi_packet_apply with a pull function, because
// gompi_packet_apply then uses static buffers. Returns 0 or an error class. MPI_ERR_UNSUPPORTED_OPERATION means that
// nothing has been done, because `pull` is NULL or has failed.
int gompi_packet_apply(const struct gompi_packet *m, char *reply, uint64_t max_bytes, gompi_pull_function *pull);

// Applies a PACKET_PUT with contiguous data to w, the window that the packet names. Validates the packet and returns
// like gompi_packet_apply.
int gompi_packet_apply_put(struct gompi_win *w, const struct gompi_packet *m, uint64_t max_bytes);

#pragma GCC visibility pop
#endif
