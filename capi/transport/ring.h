// The ring of each process in the node's shared memory, by which one-sided packets get to it.
//
// A ring has fixed cells. An origin takes a cell, writes one packet and publishes it; whichever thread of the target
// serves the ring (one that waits in a blocking call, or the progress thread) applies the packets in the ring's order,
// and then tells each origin the position up to which it has. Small operations are sent without waking the target:
// whoever waits there sees them, and gompi_ring_wait rings for the rest.
#ifndef GOMPI_RING_H
#define GOMPI_RING_H

#include "base/node.h"
#include "transport/packet.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_RING_CELL = 1024, GOMPI_RING_CELLS = 62, GOMPI_RING_SIZE = 64 << 10 };

// The header and 16 bytes of data share a cache line, so that a small operation moves one line.
struct gompi_ring_cell {
	_Alignas(GOMPI_LINE) gompi_a64 turn; // ring.c
	union {
		struct gompi_packet packet;
		struct gompi_answer answer; // once it is answered
	};
};

struct gompi_ring {
	_Alignas(GOMPI_LINE) gompi_a64 tail; // positions taken by origins
	_Alignas(GOMPI_LINE) gompi_a64 head; // positions served; written under the target's serving flag
	struct gompi_waitword space;         // origins that wait for a free cell or a reply
	_Alignas(1024) char cells[];
};

// Makes waiting threads serve this process' ring. After gompi_node_open.
void gompi_ring_open(void);

// Sends an operation to a member of w on this node, in as many packets as it takes. Data that comes back is at
// o->result on return; o->origin may be used again in any case. 0 or an error class.
int gompi_ring_send(struct gompi_win *w, const struct gompi_outgoing *o);
// The same in one packet: as much as fits, which o->bytes says afterwards.
int gompi_ring_send_one(struct gompi_win *w, struct gompi_outgoing *o);
// The same for one of the _PULL kinds: all data goes through buffers (bounce.h). What comes back is at o->result when
// gompi_ring_wait has returned; ongoing: what that is part of, or NULL.
struct gompi_ongoing;
int gompi_ring_send_bounced(struct gompi_win *w, const struct gompi_outgoing *o, struct gompi_ongoing *ongoing);

// Waits until target, or every member (GOMPI_ALL), has applied what this process has sent to it in w, and what has come
// back is where it belongs; for the function called call. 0, MPI_ERR_PROC_ABORTED, or what a target has met.
int gompi_ring_wait(struct gompi_win *w, int target, const char *call);

// Completes the access epoch at target behind what has been sent to it in w, without waiting for that, and returns
// true; *class: 0 or MPI_ERR_PROC_ABORTED. false: there is nothing on its way to it, or something is to come back: then
// it is to be done without the ring.
bool gompi_ring_complete(struct gompi_win *w, int target, const char *call, int *class);

// Applies what lies in this process' ring, unless another thread is at it. Returns true if it found anything.
bool gompi_ring_serve(void);

#pragma GCC visibility pop
#endif
