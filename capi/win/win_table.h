// Creation and destruction of window descriptors by Go.
#ifndef GOMPI_WIN_TABLE_H
#define GOMPI_WIN_TABLE_H

#include "base/error_status.h"
#include "win/win.h"

// A member of a window on this node, as planned by Go (core/rma.Target). Addresses are integers here: Go must not hold
// the application's addresses as pointers.
struct gompi_member_plan {
	// Address at which the memory is mapped. If `direct` is false, the address that its first byte would have if
	// all of the memory were mapped.
	uintptr_t base;
	uint64_t size;                          // bytes
	uintptr_t address;                      // address of the window in the member's own address space
	struct gompi_mapped_range mapped_range; // the mapped range, if `direct` is false
	int32_t rank, peer;                     // rank in the window; number of the process
	int32_t disp_unit;
	bool direct;
};

// A member of a window that spans nodes (core/rma.Member).
struct gompi_remote_plan {
	uint64_t size;
	int32_t disp_unit, peer;
};

// A window, as planned by Go (core/rma.Plan).
struct gompi_win_plan {
	uintptr_t handle;
	uintptr_t shared;          // address of this node's control memory in this process
	uintptr_t exchanged_hints; // address in the control memory of the hints that the members exchange
	// address in the control memory of the table of all members, if the window spans nodes; 0 if each process has
	// its own table
	uintptr_t remote;
	struct gompi_hints hints;  // ownership passes to the window
	uint64_t allowed_promises; // mask of the PROMISE_* bits that the window can fulfil (win.h)
	uintptr_t attached;        // dynamic windows: address of this process' table of attached regions
	uint64_t attached_bytes;   // allocated size of that table
	int32_t flavor;
	int32_t me, n, local_size; // this process' rank; number of members; number of members on this node
	struct gompi_ranks group;  // the members' processes; gompi_win_open copies the list
};

// Creates the descriptor of a window and makes it visible to the calls. The array `members` has the plan->local_size
// members on this node, by rank. Returns false if out of memory.
bool gompi_win_open(const struct gompi_win_plan *plan, const struct gompi_member_plan *members);
// Stores the data of `count` members of a window that spans nodes, from rank `first` on. The members may be on any
// node. Must be called before the window is used. If the table belongs to the node, each process writes a part of it.
void gompi_win_set_members(uintptr_t handle, int first, int count, const struct gompi_remote_plan *members);
// Registers memory of this process with the network. Returns true if other processes can read and write it now.
bool gompi_win_register(uintptr_t at, uint64_t bytes, struct gompi_region *region);
// Stores the registered regions of `count` members from rank `first` on.
void gompi_win_set_regions(uintptr_t handle, int first, int count, const struct gompi_region *regions);
// Removes a window: invalidates its handle and retires its descriptor.
void gompi_win_close(uintptr_t handle);
// Returns 0 if MPI_Win_free is permitted now, MPI_ERR_RMA_SYNC if an epoch is open, or MPI_ERR_WIN.
int gompi_win_check_free(uintptr_t handle, struct gompi_error_status *v);
// Hooks that transport/ sets, or NULL. gompi_win_close_hook runs when a window is removed, gompi_win_clear_hook before
// the content of its descriptor is freed.
extern void (*gompi_win_close_hook)(struct gompi_win *w);
extern void (*gompi_win_clear_hook)(struct gompi_win *w);

#endif
