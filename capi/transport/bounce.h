// Buffers of a process in the node's shared memory through which data goes that does not fit into a packet of a ring,
// and all that comes back later than its call: the process, as an origin, takes one, names it in a packet (the _PULL
// kinds), and has it again when the target has applied that. What a get has brought is copied out then.
#ifndef GOMPI_BOUNCE_H
#define GOMPI_BOUNCE_H

#include "base/node.h"
#include "transport/packet.h"
#include "win/why.h"

#pragma GCC visibility push(hidden)

// As many as a ring has cells: with 16, each of 64 gets of 16 KiB that are under way took 2.1 us instead of 1.6.
enum { GOMPI_BOUNCES = 62, GOMPI_BOUNCE_DATA = PACKET_PULLED };

// A buffer; behind the ring of its process.
struct gompi_bounce {
	_Alignas(GOMPI_LINE) struct gompi_reason refused; // why the target has not applied the packet; class 0: it has
	_Alignas(32) char data[GOMPI_BOUNCE_DATA];        // a few bytes share the line
};

// All buffers are free, those of the node that there is now.
void gompi_bounce_open(void);

// Takes a buffer of this process. -1: all are in use; then *peer has the oldest, and is done with it when it has
// acknowledged *number; -1: it is not sent yet.
int gompi_bounce_take(int *peer, uint64_t *number);
char *gompi_bounce_data(int buffer);
// What names a buffer in a packet, as if it were an address.
void *gompi_bounce_address(int buffer);
// A packet with that name went to peer, on this node, which acknowledges it by number. So many bytes are copied to an
// address then; NULL: nowhere. They are a part of what is ongoing, unless that is NULL.
struct gompi_ongoing;
void gompi_bounce_sent(int buffer, int peer, uint64_t number, void *to, uint64_t bytes, struct gompi_ongoing *ongoing);
// A buffer that has been taken is not needed.
void gompi_bounce_drop(int buffer);

// Returns true if peer has a buffer for data that comes back, and by which number it acknowledges the oldest one.
bool gompi_bounce_due(int peer, uint64_t *number);

// Copies out what has come back, and takes back the buffers of what has been applied. 0 or the class of an error that a
// target has met, told once.
int gompi_bounce_collect(void);
// The same, and errors that are nobody's request's are told later.
void gompi_bounce_look(void);

// At the target: moves bytes between memory here and a buffer named by a packet of peer; a gompi_packet_mover.
bool gompi_bounce_move(int peer, uint64_t address, void *local, uint64_t bytes, bool write);
// Says in it that the packet was not applied, if it is one.
void gompi_bounce_refuse(int peer, uint64_t address, int class);

#pragma GCC visibility pop
#endif
