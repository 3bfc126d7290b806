// Frames: the unit of network messages. A frame has a head, followed by records.
#ifndef GOMPI_FABRIC_FRAME_H
#define GOMPI_FABRIC_FRAME_H

#include <rdma/fi_domain.h>

#include "fabric/net.h"

#pragma GCC visibility push(hidden)

enum gompi_frame_kind {
	GOMPI_FRAME_RECORDS, // has records; uses a credit
	GOMPI_FRAME_CREDITS, // head only: returns credits
	GOMPI_FRAME_PROBE,   // head only: returns credits, and requests a GOMPI_FRAME_CREDITS at once
};

// The head of a frame, in native byte order: all machines that gompirma supports have the same byte order.
struct gompi_frame_head {
	uint64_t mac;         // authentication code of the rest of the head, keyed with the job's secret
	uint32_t source;      // rank in MPI_COMM_WORLD
	uint32_t destination; // rank in MPI_COMM_WORLD
	uint32_t length;      // bytes of the frame with its head; a multiple of 8
	uint32_t kind;
	// GOMPI_FRAME_RECORDS: number of the frame, from 0, among the frames of this kind from `source` to
	// `destination`
	uint32_t sequence;
	// number of frames with records that `source` has received from `destination`; acknowledges them
	uint32_t received;
};
_Static_assert(sizeof(struct gompi_frame_head) == 32, "the head of a frame");

struct gompi_record_head {
	uint16_t port;
	uint16_t zero;
	uint32_t length; // bytes of the record without this head; the next head follows, aligned to 8
};
_Static_assert(sizeof(struct gompi_record_head) == 8, "the head of a record");

#define GOMPI_ALIGN8(n) (((size_t)(n) + 7) & ~(size_t)7)

// Maximum size of a frame in bytes: enough for the longest record.
#define GOMPI_FRAME_BYTES \
	(sizeof(struct gompi_frame_head) + sizeof(struct gompi_record_head) + GOMPI_ALIGN8(GOMPI_MAX_RECORD_BYTES))

// A buffer for one frame.
struct gompi_frame {
	struct gompi_net_op op;
	struct gompi_frame *next;
	void *descriptor;    // descriptor of the buffer's registration, if the provider requires a registration
	uint32_t used_bytes; // bytes of the frame that have been written, with the head
	int32_t peer;        // rank of the destination
	_Alignas(16) char bytes[GOMPI_FRAME_BYTES];
};

// Returns a buffer from a pool, which grows when it is empty and never shrinks. Returns NULL if out of memory.
// gompi_frame_free returns a buffer to the pool.
struct gompi_frame *gompi_frame_alloc(void);
void gompi_frame_free(struct gompi_frame *f);

static inline struct gompi_frame_head *gompi_frame_head_of(struct gompi_frame *f) {
	return (struct gompi_frame_head *)(void *)f->bytes;
}

// Computes the authentication code of a head.
uint64_t gompi_frame_mac(const struct gompi_frame_head *h);

// Validates a frame that has arrived. Returns NULL if it is valid, else the name of the invalid part. A valid frame
// comes from a process of the job on another node, is addressed to this process, and consists of whole records for
// known ports. The contents of the records are not checked.
const char *gompi_frame_error(const char *bytes, size_t length);

// Passes the records of a valid frame to the handlers of their ports.
void gompi_frame_deliver(int peer, const char *bytes);

extern const struct gompi_port_handler *gompi_port_handlers[FABRIC_PORTS];

#pragma GCC visibility pop
#endif
