// Bounce buffers: buffers of a process in the node's shared memory. They carry data that does not fit into a packet of
// a ring, and all results that arrive after the call. The process, as an origin, takes a buffer and names it in a
// packet (the _PULL kinds). The buffer is free again when the target has applied the packet. The data of a get is then
// copied out.
#ifndef GOMPI_BOUNCE_H
#define GOMPI_BOUNCE_H

#include "base/node.h"
#include "transport/packet.h"
#include "win/why.h"

#pragma GCC visibility push(hidden)

// The same number as cells in a ring. With 16, each of 64 concurrent gets of 16 KiB took 2.1 us instead of 1.6.
enum { GOMPI_BOUNCES = 62, GOMPI_BOUNCE_DATA = PACKET_PULLED };

// A buffer. The array of buffers follows the ring of its process.
struct gompi_bounce {
	_Alignas(GOMPI_LINE) struct gompi_reason refused; // error of the packet; class 0 if the target has applied it
	_Alignas(32) char data[GOMPI_BOUNCE_DATA];        // the first bytes share the cache line of refused
};

// Marks all buffers of this process on the current node as free.
void gompi_bounce_open(void);

// Takes a buffer of this process. Returns -1 if all are in use. Then *peer is the process that uses the oldest buffer,
// which becomes free when peer has acknowledged *number; *peer is -1 if the packet of that buffer has not been sent
// yet.
int gompi_bounce_take(int *peer, uint64_t *number);
char *gompi_bounce_data(int buffer);
// Returns the name of a buffer in a packet, in the form of an address.
void *gompi_bounce_address(int buffer);
// Records that a packet with this buffer has been sent to peer, on this node, which acknowledges it by number. Then
// `bytes` bytes are copied to `to`, unless that is NULL. ongoing is the pending request that they belong to, or NULL.
struct gompi_ongoing;
void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes, struct gompi_ongoing *ongoing);
// Frees a buffer that has been taken but not used.
void gompi_bounce_drop(int buffer);

// Returns true if peer uses a buffer for a result. Then sets *number to the number by which peer acknowledges the
// oldest one.
bool gompi_bounce_due(int peer, uint64_t *number);

// Copies out the results that have arrived, and frees the buffers of applied packets. Returns 0, or the class of an
// error that a target reported; each error is returned once.
int gompi_bounce_collect(void);
// Copies out results and frees buffers like gompi_bounce_collect. Keeps errors that belong to no request for the next
// gompi_bounce_collect.
void gompi_bounce_look(void);

// Moves bytes, at the target, between local memory and a buffer that a packet of peer names. A gompi_packet_mover.
bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);
// Stores, at the target, in the buffer (if address names one) that the packet was not applied.
void gompi_bounce_refuse(int peer, uint64_t address, int class);

#pragma GCC visibility pop
#endif
