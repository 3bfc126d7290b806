// Bounce buffers: buffers of an origin in the node's shared memory. They carry data that does not fit into a packet of
// a ring. They also carry each result that may arrive after the origin's call has returned. The origin acquires one of
// its buffers and names the buffer in a packet (PACKET_*_PULL). The target copies the data from or to the buffer when
// it applies the packet. Then the origin copies a result, if there is one, out of the buffer and reuses the buffer.
#ifndef GOMPI_BOUNCE_H
#define GOMPI_BOUNCE_H

#include "base/node.h"
#include "transport/packet.h"
#include "win/error_detail.h"

#pragma GCC visibility push(hidden)

// GOMPI_BOUNCE_COUNT: number of buffers of a process, equal to the number of cells of a ring. If 64 gets of 16 KiB are
// in progress, each takes 2.1 us with 16 buffers, and 1.6 us with 62 buffers. GOMPI_BOUNCE_BYTES: bytes of data of a
// buffer.
enum { GOMPI_BOUNCE_COUNT = 62, GOMPI_BOUNCE_BYTES = PACKET_MAX_PULL_BYTES };

// A buffer. The array of a process' buffers follows the process' ring.
struct gompi_bounce {
	// written by the target: the error of the packet, or class 0 if the packet has been applied
	_Alignas(GOMPI_CACHE_LINE) struct gompi_error_detail error_detail;
	_Alignas(32) char data[GOMPI_BOUNCE_BYTES]; // begins in the cache line of error_detail
};

// Marks all buffers of this process as free. Called when this process opens the shared memory of its node.
void gompi_bounce_open(void);

// Acquires a buffer of this process and returns its index. Returns -1 if all buffers are in use. Then it sets *peer and
// *number: the oldest buffer becomes free when process *peer has acknowledged packet *number. It sets *peer to -1 if
// the packet that names the oldest buffer has not been sent yet.
int gompi_bounce_acquire(int *peer, uint64_t *number);
char *gompi_bounce_data(int buffer);
// Returns the name by which a packet refers to a buffer. The name has the type of an address, but is not a valid
// address.
void *gompi_bounce_address(int buffer);
// Notes that a packet that names this buffer has been sent to `peer`, a process of this node. The argument `number` is
// the number by which `peer` acknowledges the packet. After the acknowledgement, `bytes` bytes are copied from the
// buffer to `to`, unless `to` is NULL. The argument rma_request is the pending request to which the operation belongs,
// or NULL.
struct gompi_rma_request;
void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes,
		       struct gompi_rma_request *rma_request);
// Releases an acquired buffer without sending a packet that names it.
void gompi_bounce_release(int buffer);

// Returns true if a buffer of this process waits for a result of `peer`. Then sets *number to the number by which
// `peer` acknowledges the oldest packet that names such a buffer.
bool gompi_bounce_pending_result(int peer, uint64_t *number);

// Returns true if all buffers of this process are free.
bool gompi_bounce_is_idle(void);
// Copies the results that have arrived out of the buffers, and frees the buffers of applied packets. Returns 0, or the
// class of an error that a target has reported since the last call.
int gompi_bounce_collect(void);
// Copies results and frees buffers like gompi_bounce_collect, but returns no error. Errors that belong to no request
// are kept for the next gompi_bounce_collect.
void gompi_bounce_poll(void);

// Moves `bytes` bytes between the memory `local` and the buffer that a packet of `peer` names. The target calls this
// function to apply the packet. It is a gompi_pull_function (packet.h).
bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);
// Stores an error class in the buffer that `address` names, because the packet with this name was not applied. The
// target calls this function; the origin reads the class from the buffer. Does nothing if `address` names no buffer.
void gompi_bounce_store_error(int peer, uint64_t address, int class);

#pragma GCC visibility pop
#endif
