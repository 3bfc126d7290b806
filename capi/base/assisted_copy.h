// Copies between the memory of two processes of a node, in which both processes take part. A process that transfers
// much data by process_vm_readv(2) or process_vm_writev(2) requests the help of the other process, if a thread of that
// process polls in a wait. Each of the two then copies pieces of the data until none is left. A copy by one
// process is slower than the memory: the kernel looks up each page, and one core does not use the whole bandwidth.
#ifndef GOMPI_ASSISTED_COPY_H
#define GOMPI_ASSISTED_COPY_H

#include "base/node.h"

#pragma GCC visibility push(hidden)

// The least number of bytes for which help is requested.
enum { GOMPI_ASSISTED_COPY_BYTES = 64 << 10 };

// Copies `bytes` bytes between the memory `local` of this process and `address` in the process with the index `other`
// on this node: to that process if `write` is true, else from it. If other_waits is true, the other process waits for
// this transfer or will soon do so. Otherwise help is requested only if a thread of that process polls in a wait.
// Returns true if all data has been copied. Returns false if the other process does not help or a piece failed; then
// the caller copies all data itself. Blocks until neither process accesses the data any more.
bool gompi_assisted_copy(int other, uint64_t address, void *local, uint64_t bytes, bool write, bool other_waits);

// Returns true if another process requests the help of this process. A thread that polls then calls gompi_await, which
// helps.
static inline bool gompi_is_help_requested(void) { return gompi_load(&gompi_my_cell()->copy_offer) != 0; }

// The help of a waiting thread.
struct gompi_assistance {
	int initiator;   // index + 1 of the process that is being helped; 0 if none
	uint64_t pieces; // number of pieces that this thread has copied for it
};
// Copies a piece of a transfer for which another process has requested the help of this process. Returns true if it has
// copied a piece.
bool gompi_assist(struct gompi_assistance *a);
// Ends the help. Does nothing if a->initiator is 0.
void gompi_end_assistance(struct gompi_assistance *a);

#pragma GCC visibility pop

#endif
