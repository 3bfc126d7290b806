// Bounce buffers: buffers of an origin in the node's shared memory. They carry data that does not fit into a packet of
// a ring, and all results that arrive after the call has returned. The origin acquires one of its buffers and names the
// buffer in a packet (PACKET_*_PULL). The target copies the data from or to the buffer when it applies the packet. Then
// the origin copies a result, if there is one, out of the buffer and reuses the buffer.
#ifndef GOMPI_BOUNCE_H
#define GOMPI_BOUNCE_H

#include "base/node.h"
#include "transport/packet.h"
#include "win/error_detail.h"

#pragma GCC visibility push(hidden)

// As many buffers as a ring has cells. With 16 buffers, each of 64 concurrent gets of 16 KiB takes 2.1 us; with 62
// buffers, 1.6 us.
enum { GOMPI_BOUNCE_COUNT = 62, GOMPI_BOUNCE_BYTES = PACKET_MAX_PULL_BYTES };

// A buffer. The array of a process' buffers follows the process' ring.
struct gompi_bounce {
	_Alignas(GOMPI_CACHE_LINE) struct gompi_error_detail
		error_detail;                       // error of the packet; class 0 if the target has applied it
	_Alignas(32) char data[GOMPI_BOUNCE_BYTES]; // the first bytes share the cache line of error_detail
};

// Marks all buffers of this process as free. Called when a node's memory is opened.
void gompi_bounce_open(void);

// Acquires a buffer of this process and returns its index. Returns -1 if all buffers are in use. In this case the
// oldest buffer becomes free when process *peer has acknowledged packet *number; *peer is -1 if the packet that names
// this buffer has not been sent yet.
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

// Returns true if `peer` will store a result in a buffer. Sets *number to the number by which `peer` acknowledges the
// oldest packet that names a buffer for a result.
bool gompi_bounce_pending_result(int peer, uint64_t *number);

// Copies the results that have arrived out of the buffers, and frees the buffers of applied packets. Returns 0, or the
// class of an error that a target has reported since the last call.
int gompi_bounce_collect(void);
// Copies results and frees buffers like gompi_bounce_collect. The next gompi_bounce_collect returns errors that belong
// to no request.
void gompi_bounce_poll(void);

// Moves `bytes` bytes, at the target, between the memory `local` and the buffer that a packet of `peer` names. This is
// a gompi_pull_function.
bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);
// Stores an error class at the target, in the buffer that `address` names, if a packet was not applied because of this
// error. Does nothing if `address` names no buffer.
void gompi_bounce_store_error(int peer, uint64_t address, int class);

#pragma GCC visibility pop
#endif
