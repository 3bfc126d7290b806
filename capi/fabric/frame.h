// Frames: the messages of the network. A frame has a head, followed by records. A frame without records only returns
// credits.
#ifndef GOMPI_FABRIC_FRAME_H
#define GOMPI_FABRIC_FRAME_H

#include "fabric/net.h"

#pragma GCC visibility push(hidden)

// The head of a frame, in native byte order: all machines that gompirma supports have the same byte order. The network
// tells the receiver the sender and the length of the frame.
struct gompi_frame_head {
	// Number of the frame, from 0, among the frames with records from the sender to the receiver. In a frame
	// without records: enum gompi_frame_request.
	uint32_t sequence;
	// number of frames with records that the sender has received from the receiver; acknowledges them
	uint32_t received;
};
_Static_assert(sizeof(struct gompi_frame_head) == 8, "the head of a frame");

enum gompi_frame_request {
	GOMPI_FRAME_CREDITS, // requests nothing
	GOMPI_FRAME_PROBE,   // requests a frame without records at once
};

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
	struct gompi_net_local *local; // registration of the buffer, if the network requires one
	uint32_t used_bytes;           // bytes of the frame that have been written, with the head
	int32_t peer;                  // rank of the destination
	_Alignas(16) char net_head[GOMPI_NET_HEAD_BYTES];
	char bytes[GOMPI_FRAME_BYTES];
};

// Returns a buffer from a pool, which grows when it is empty. Returns NULL if out of memory. gompi_frame_free returns a
// buffer to the pool.
struct gompi_frame *gompi_frame_alloc(void);
void gompi_frame_free(struct gompi_frame *f);
// Frees all buffers, also those in use. Called before the network is opened again.
void gompi_frames_reset(void);

static inline struct gompi_frame_head *gompi_frame_head_of(struct gompi_frame *f) {
	return (struct gompi_frame_head *)(void *)f->bytes;
}

// Validates a frame that the network has received from `peer`. Returns NULL if it is valid, else the name of the
// invalid part. A valid frame comes from a process on another node, and consists of whole records for known ports. The
// contents of the records are not checked.
const char *gompi_frame_error(int peer, const char *bytes, size_t length);

// Passes the records of a valid frame to the handlers of their ports.
void gompi_frame_deliver(int peer, const char *bytes, size_t length);

extern const struct gompi_port_handler *gompi_port_handlers[FABRIC_PORTS];

#pragma GCC visibility pop
#endif
