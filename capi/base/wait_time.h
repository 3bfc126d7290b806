// The times of waits by the kind of the MPI function, for tools that request them, and the event of a long wait for a
// lock.
#ifndef GOMPI_WAIT_TIME_H
#define GOMPI_WAIT_TIME_H

#include <stdint.h>

#include "base/atomics.h"

struct gompi_wait_desc;

enum gompi_wait_kind {
	WAIT_FOR_LOCK,    // for the lock of a member's memory, in any MPI function
	WAIT_IN_FENCE,    // in MPI_Win_fence
	WAIT_IN_FLUSH,    // for one-sided operations: MPI_Win_flush, MPI_Win_unlock, MPI_Put and similar functions
	WAIT_IN_PSCW,     // in MPI_Win_start, MPI_Win_complete, MPI_Win_post, MPI_Win_wait
	WAIT_FOR_MESSAGE, // in functions of point-to-point messages, MPI_Wait and similar functions
	WAIT_IN_ANOTHER,  // in any other function; almost all of them are collective
	GOMPI_WAIT_KINDS
};

#pragma GCC visibility push(hidden)

// Number of requests to measure waits: handles of variables and observers of the event EVENT_LOCK_WAITED.
extern gompi_a32 gompi_wait_times_requested;
// Nanoseconds of the waits that were measured. A wait counts if its condition did not hold after the first quick polls
// of gompi_await.
extern gompi_a64 gompi_wait_times[GOMPI_WAIT_KINDS];
// A wait for a lock raises EVENT_LOCK_WAITED if it takes at least this time (ns).
extern gompi_a64 gompi_lock_event_ns;

// Adds a wait of this thread that has ended, unless a thread of the library waited for itself.
__attribute__((cold)) void gompi_wait_time_add(const struct gompi_wait_desc *desc, int64_t ns);

#pragma GCC visibility pop
#endif
