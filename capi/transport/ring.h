// Rings. Each process has a ring in the node's shared memory, through which it receives packets of one-sided
// operations.
//
// A ring has cells of fixed size. An origin reserves a cell, writes one packet and publishes it. A thread of the target
// serves the ring: a thread that waits in a blocking call, or the progress thread. This thread applies the packets in
// order, and acknowledges each packet's position to the packet's origin. An origin sends small operations without
// waking the target. If no thread of the target polls the ring, gompi_ring_flush rings the target's doorbell.
#ifndef GOMPI_RING_H
#define GOMPI_RING_H

#include "base/node.h"
#include "transport/packet.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_RING_CELL = 1024, GOMPI_RING_CELLS = 62, GOMPI_RING_SIZE = 64 << 10 };

// The header and 16 bytes of data share a cache line, so that a small operation transfers one line.
struct gompi_ring_cell {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 state; // see lap_state in ring.c
	union {
		struct gompi_packet packet;
		struct gompi_answer answer; // after the target has written its answer
	};
};

struct gompi_ring {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 tail; // next position that an origin reserves
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 head; // next position to serve; written by the serving thread
	struct gompi_waitword cell_wait;           // wait word of the origins that wait for a free cell
	_Alignas(1024) char cells[];
};

// Registers the service by which waiting threads serve this process' ring. Call it after gompi_node_open.
void gompi_ring_open(void);

// Sends an operation to a member of w on this node, in as many packets as necessary. If o->wants_reply is set, waits
// for the result, which is in o->result on return. The caller may reuse o->origin on return. Returns 0 or an error
// class.
int gompi_ring_send(struct gompi_win *w, const struct gompi_outgoing *o);
// Sends as much of an operation as one packet holds, and sets o->bytes to the bytes sent. Except for this limit, does
// the same as gompi_ring_send.
int gompi_ring_send_packet(struct gompi_win *w, struct gompi_outgoing *o);
// Sends a PACKET_*_PULL operation, whose data passes through bounce buffers (bounce.h). The result is in o->result
// after gompi_ring_flush has returned or rma_request has completed. The argument rma_request is the pending request to
// which the operation belongs, or NULL. Returns 0 or an error class.
struct gompi_rma_request;
int gompi_ring_send_bounced(struct gompi_win *w, const struct gompi_outgoing *o, struct gompi_rma_request *rma_request);

// Waits until the member `target`, or every member on this node (GOMPI_ALL), has applied all operations of this process
// in w. Also waits until the results are at their destinations. The parameter `call` names the MPI function in errors.
// Returns 0, MPI_ERR_PROC_ABORTED, or an error that a target has reported.
int gompi_ring_flush(struct gompi_win *w, int target, const char *call);

// Ends the access epoch of w at `target` by a PACKET_COMPLETE after the pending operations, without waiting for these
// operations. Returns true if it has sent the packet or `target` has failed, and sets *class to 0 or
// MPI_ERR_PROC_ABORTED. Returns false, and sends nothing, if no operation is pending at `target`, or if a result has
// not arrived yet. The caller then must end the epoch without the ring.
bool gompi_ring_send_complete(struct gompi_win *w, int target, const char *call, int *class);

// Applies the packets in this process' ring, unless another thread is applying them. Returns true if there were
// packets.
bool gompi_ring_serve(void);

#pragma GCC visibility pop
#endif
