// How Go makes and unmakes the slots of windows.
#ifndef GOMPI_WIN_TABLE_H
#define GOMPI_WIN_TABLE_H

#include "base/verdict.h"
#include "win/win.h"

// A member of a window on this node as Go has planned it (core/rma.Target). Addresses are numbers here: Go must not
// hold what the application gave it as pointers.
struct gompi_member_plan {
	uintptr_t base;    // where its memory is mapped here if direct; otherwise only part of it is, as if all were
	uint64_t size;     // bytes
	uintptr_t address; // of the window in the member's own address space
	struct gompi_part part; // what is mapped here if not direct
	int32_t rank, peer;     // in the window, in MPI_COMM_WORLD
	int32_t disp_unit;
	bool direct;
};

// A member of a window that spans nodes (core/rma.Member).
struct gompi_remote_plan {
	uint64_t size;
	int32_t disp_unit, peer;
};

// A window as Go has planned it (core/rma.Plan).
struct gompi_win_plan {
	uintptr_t handle;
	uintptr_t shared; // where the control memory of this node is mapped here
	uintptr_t told;   // and where in it its members tell each other hints
	uintptr_t remote; // and the table of all members, if the window spans nodes; 0: each process has its own
	struct gompi_hints hints; // taken over
	uint64_t may;             // promises that may be in force
	uintptr_t attached; // of a dynamic window: where this process' table is, and how many bytes of it have memory
	uint64_t attached_bytes;
	int32_t flavor;
	int32_t me, n, local_n;   // this process' rank, and the number of members, of those on this node
	struct gompi_ranks group; // copied
};

// Makes the slot of a window, and lets the calls see it: members[plan->local_n] are those on this node, by rank. false:
// there is no memory.
bool gompi_win_open(const struct gompi_win_plan *plan, const struct gompi_member_plan *members);
// Writes down who so many members of a window that spans nodes are, from a rank on, wherever they are. Before anybody
// uses it. Where the table is the node's each process writes a part of it.
void gompi_win_set_members(uintptr_t handle, int first, int count, const struct gompi_remote_plan *members);
// Registers memory of this process with the network. Returns true if others can read and write it now.
bool gompi_win_register(uintptr_t at, uint64_t bytes, struct gompi_region *region);
// The same for what they have registered.
void gompi_win_set_regions(uintptr_t handle, int first, int count, const struct gompi_region *regions);
// Lets this process meet those that lead on the other nodes of its window: leaders are the nodes' by their ranks in
// MPI_COMM_WORLD, this process is number me of them. Returns true if there was memory.
bool gompi_win_lead(uintptr_t handle, int nodes, int me, const int32_t *leaders);
void gompi_win_close(uintptr_t handle);
// Returns 0 if MPI_Win_free is possible now; MPI_ERR_RMA_SYNC: an epoch is open; MPI_ERR_WIN.
int gompi_win_may_free(uintptr_t handle, struct gompi_verdict *v);
// What transport/ does when the slot is no window's any more, and before what it had is freed. NULL: nothing.
extern void (*gompi_win_closing)(struct gompi_win *w);
extern void (*gompi_win_emptying)(struct gompi_win *w);
// The barrier of MPI_Win_free, of all members, or one of those on this node of a window that spans nodes. 0;
// MPI_ERR_WIN; MPI_ERR_PROC_ABORTED.
int gompi_win_barrier_of(uintptr_t handle, bool of_node);

#endif
