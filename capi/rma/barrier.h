// Barriers of the members of a window, on one node or on several nodes.
#ifndef GOMPI_RMA_BARRIER_H
#define GOMPI_RMA_BARRIER_H

#include "win/win.h"

#pragma GCC visibility push(hidden)

// Executes a barrier of all members. Returns 0 or an error class.
int gompi_win_barrier(struct gompi_win *w, const struct gompi_wait_desc *waiting);
// Executes the barrier of MPI_Win_free among all members. Returns 0, MPI_ERR_WIN or MPI_ERR_PROC_ABORTED.
int gompi_win_free_barrier(uintptr_t handle);
// Executes a barrier among the members on this node of a window that spans nodes, while the window is created from the
// communicator `comm`. The failure of a member and the revocation of `comm` end the wait. Returns as
// gompi_win_free_barrier.
int gompi_win_create_barrier(uintptr_t handle, uintptr_t comm);

// Makes this process a leader of its node for a window that spans nodes. The array `leaders` has the process numbers of
// the node leaders; this process is leaders[me]. The leaders' messages have the given context. Returns false if out of
// memory. gompi_win_leave_leaders undoes the call, if it has been made.
bool gompi_win_join_leaders(uintptr_t handle, uint64_t context, int nodes, int me, const int32_t *leaders);
void gompi_win_leave_leaders(uintptr_t handle);

#pragma GCC visibility pop
#endif
