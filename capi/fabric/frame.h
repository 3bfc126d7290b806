// Frames: what goes through the network as one message. A head, and records one after the other.
#ifndef GOMPI_FABRIC_FRAME_H
#define GOMPI_FABRIC_FRAME_H

#include <rdma/fi_domain.h>

#include "fabric/net.h"

#pragma GCC visibility push(hidden)

enum gompi_frame_kind {
	GOMPI_FRAME_RECORDS, // costs a credit
	GOMPI_FRAME_CREDITS, // nothing but its head
	GOMPI_FRAME_ASK,     // the same, and wants a frame of credits at once
};

// The head of a frame, in the order of bytes that all machines have on which this runs.
struct gompi_frame_head {
	uint64_t tag;         // of what follows in the head, made with the secret of the job
	uint32_t source;      // ranks in MPI_COMM_WORLD
	uint32_t destination; //
	uint32_t length;      // of the frame, with the head; a multiple of 8
	uint32_t kind;
	uint32_t number; // counts the frames with records from source to destination, from 0
	uint32_t taken;  // so many of those in the other direction source has taken: they are credits again
};
_Static_assert(sizeof(struct gompi_frame_head) == 32, "the head of a frame");

struct gompi_record_head {
	uint16_t port;
	uint16_t zero;
	uint32_t length; // of the record; the next begins behind it, aligned to 8
};
_Static_assert(sizeof(struct gompi_record_head) == 8, "the head of a record");

#define GOMPI_ALIGN8(n) (((size_t)(n) + 7) & ~(size_t)7)

// The most bytes of a frame: it has room for the longest record.
#define GOMPI_FRAME_BYTES \
	(sizeof(struct gompi_frame_head) + sizeof(struct gompi_record_head) + GOMPI_ALIGN8(GOMPI_FABRIC_RECORD))

// A place for one.
struct gompi_frame {
	struct gompi_op op;
	struct gompi_frame *next;
	void *descriptor; // of the memory, if the provider wants it registered
	uint32_t used;    // bytes
	int32_t peer;     // to whom it goes
	_Alignas(16) char bytes[GOMPI_FRAME_BYTES];
};

// Places come from a pool, which grows when it is empty and keeps what it has. NULL: there is no memory.
struct gompi_frame *gompi_frame_get(void);
void gompi_frame_put(struct gompi_frame *f);

static inline struct gompi_frame_head *gompi_head(struct gompi_frame *f) {
	return (struct gompi_frame_head *)(void *)f->bytes;
}

// The tag of a head.
uint64_t gompi_frame_tag(const struct gompi_frame_head *h);

// What is wrong with a frame of so many bytes that has arrived, NULL: nothing. It comes from a process of the job, for
// this one, and consists of whole records for known ports; what is in the records is not looked at.
const char *gompi_frame_error(const char *bytes, size_t length);

// Gives the records of a frame with which nothing is wrong to their ports.
void gompi_frame_deliver(int peer, const char *bytes);

extern const struct gompi_port_handler *gompi_ports[FABRIC_PORTS];

#pragma GCC visibility pop
#endif
