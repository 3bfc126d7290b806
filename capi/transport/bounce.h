// Bounce buffers: buffers of a process in the node's shared memory. They carry data that does not fit into a packet of
// a ring, and all results that arrive after the call. The process, as an origin, acquires a buffer and names it in a
// packet (PACKET_*_PULL). The buffer is free again when the target has applied the packet. The data of a get is then
// copied out.
#ifndef GOMPI_BOUNCE_H
#define GOMPI_BOUNCE_H

#include "base/node.h"
#include "transport/packet.h"
#include "win/error_detail.h"

#pragma GCC visibility push(hidden)

// The same number as cells in a ring. With 16, each of 64 concurrent gets of 16 KiB took 2.1 us instead of 1.6.
enum { GOMPI_BOUNCE_COUNT = 62, GOMPI_BOUNCE_BYTES = PACKET_MAX_PULL_BYTES };

// A buffer. The array of buffers follows the ring of its process.
struct gompi_bounce {
	_Alignas(GOMPI_CACHE_LINE) struct gompi_error_detail
		error_detail;                       // error of the packet; class 0 if the target has applied it
	_Alignas(32) char data[GOMPI_BOUNCE_BYTES]; // the first bytes share the cache line of error_detail
};

// Marks all buffers of this process on the current node as free.
void gompi_bounce_open(void);

// Acquires a buffer of this process. Returns -1 if all are in use. Then *peer is the process that uses the oldest
// buffer, which becomes free when peer has acknowledged *number; *peer is -1 if the packet of that buffer has not been
// sent yet.
int gompi_bounce_acquire(int *peer, uint64_t *number);
char *gompi_bounce_data(int buffer);
// Returns the name of a buffer in a packet, in the form of an address.
void *gompi_bounce_address(int buffer);
// Records that a packet with this buffer has been sent to peer, on this node, which acknowledges it by number. Then
// `bytes` bytes are copied to `to`, unless that is NULL. rma_request is the pending request that they belong to, or
// NULL.
struct gompi_rma_request;
void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes,
		       struct gompi_rma_request *rma_request);
// Releases a buffer that no packet names.
void gompi_bounce_release(int buffer);

// Returns true if peer uses a buffer for a result. Then sets *number to the number by which peer acknowledges the
// oldest one.
bool gompi_bounce_pending_result(int peer, uint64_t *number);

// Copies out the results that have arrived, and frees the buffers of applied packets. Returns 0, or the class of an
// error that a target reported; each error is returned once.
int gompi_bounce_collect(void);
// Copies out results and frees buffers like gompi_bounce_collect. Keeps errors that belong to no request for the next
// gompi_bounce_collect.
void gompi_bounce_poll(void);

// Moves bytes, at the target, between local memory and a buffer that a packet of peer names. A gompi_pull_function.
bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);
// Stores, at the target, in the buffer (if address names one) that the packet was not applied.
void gompi_bounce_store_error(int peer, uint64_t address, int class);

#pragma GCC visibility pop
#endif
