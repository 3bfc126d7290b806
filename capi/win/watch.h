// Watching a window: what a checker or a trace sees of it.
//
// A watched window has no fast path: no byte of a target can be addressed without the funnel of operations
// (gompi_rma_do), and no flush ends without the gate (gompi_epoch). So its watch sees every communication and every
// synchronization call. Windows that are not watched pay a look at one word in each synchronization call, and nothing
// in what takes the fast path.
#ifndef GOMPI_WATCH_H
#define GOMPI_WATCH_H

#include "base/verdict.h"
#include "win/operation.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// Both are called on the thread that makes the call, before anything is done, with the verdict's class: MPI_SUCCESS, or
// why the call is refused. They must not call MPI.
struct gompi_watch {
	void (*operation)(struct gompi_win *w, const struct gompi_operation *o, int class);
	// target: a rank, or GOMPI_ALL where the call means all members or a group.
	void (*synchronization)(struct gompi_win *w, enum gompi_epoch_call call, int target, int class);
};

// Has w watched from now on. While no other thread uses it: when it is created.
void gompi_watch(struct gompi_win *w, const struct gompi_watch *watch);

#pragma GCC visibility pop
#endif
