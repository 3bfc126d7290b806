// The gate for epochs: every synchronization call, and every operation that no fast path takes, passes here and is
// allowed or refused by the table of core/rma/epoch.go (MPI-5.0 12.5).
#ifndef GOMPI_EPOCH_H
#define GOMPI_EPOCH_H

#include "base/verdict.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// Number of the access epoch in a window's access word: 0 none, k for bit k-1.
static inline int gompi_access_number(uint32_t access) {
	access &= ACCESS_MASK;
	return access == 0 ? 0 : __builtin_ctz(access) + 1;
}

// Asks whether call is possible on w now, for target: a rank, MPI_PROC_NULL, or GOMPI_ALL for all members or a group.
// If so the epoch changes at once or when the call says gompi_epoch_over, as the table has it; if not nothing has
// changed. 0, or the verdict's class: MPI_ERR_RMA_SYNC, naming what is open; MPI_ERR_RANK: target is no member.
int gompi_epoch(struct gompi_win *w, enum gompi_epoch_call call, int target, struct gompi_verdict *v);

// What call had to wait for is done, or has failed: its epoch changes now.
void gompi_epoch_over(struct gompi_win *w, enum gompi_epoch_call call);

// Takes back what a call that changes the epoch at once has changed, since it has failed.
void gompi_epoch_undo(struct gompi_win *w, enum gompi_epoch_call call);

// Says in words which epochs are open.
void gompi_epoch_describe(struct gompi_win *w, char *text, size_t size);

#pragma GCC visibility pop
#endif
