// Groups (MPI-5.0 7.3). The group of a communicator or window is created when the application first asks for it. All
// requests return the same handle, and each requires one MPI_Group_free. So a program that requests the group before
// every operation and never frees it does not leak memory.
#ifndef GOMPI_GROUP_H
#define GOMPI_GROUP_H

#include "base/abi.h"
#include "base/object_pool.h"
#include "base/ranks.h"

enum { GOMPI_RANK_UNKNOWN = INT32_MIN };

struct gompi_group {
	struct gompi_group *next; // next in the free list
	struct gompi_ranks ranks;
	gompi_ai32 rank;        // rank of this process; MPI_UNDEFINED if it is not a member, GOMPI_RANK_UNKNOWN until
				// the first call of MPI_Group_rank
	uintptr_t handle;       // valid while pending_frees > 0
	uint64_t pending_frees; // number of MPI_Group_free calls still due
	bool has_owner;         // true while a communicator or window refers to the group
};

#pragma GCC visibility push(hidden)

extern struct gompi_object_pool gompi_groups;
extern struct gompi_group gompi_group_empty;
// Incremented each time a group handle becomes invalid. If this version has changed, a cache with handles as keys must
// look up each handle again, because the handle may be invalid or refer to another group.
extern gompi_a64 gompi_groups_version;

// Returns the live group with this handle, or NULL.
static inline const struct gompi_group *gompi_group_get(MPI_Group group) {
	if (group == MPI_GROUP_EMPTY)
		return &gompi_group_empty;
	return gompi_table_get(&gompi_groups.handles.table, (uintptr_t)group);
}

// Stores the handle of the group of a communicator or window, which has these members. The object owns the group;
// *owned is the object's pointer to it. The first call creates the group. Each call requires one more MPI_Group_free.
// If there are no members, stores MPI_GROUP_EMPTY instead. Returns MPI_SUCCESS or MPI_ERR_NO_MEM.
int gompi_group_acquire(struct gompi_group **owned, const struct gompi_ranks *members, MPI_Group *group);
// Creates a group with the given members, takes ownership of their list, and stores the handle (MPI_GROUP_EMPTY if
// there are no members). Raises an error if that fails. Returns the value that the call must return: MPI_SUCCESS,
// MPI_ERR_ARG or MPI_ERR_NO_MEM.
int gompi_group_create(const char *call, struct gompi_ranks *members, MPI_Group *newgroup);
// Ends the ownership of a communicator or window that is being freed. The group exists until the application has
// called all pending MPI_Group_free. Sets *owned to NULL.
void gompi_group_disown(struct gompi_group **owned);

// Raises MPI_ERR_NO_MEM for a call that could not create a group.
__attribute__((cold)) int gompi_raise_no_group_memory(const char *call, int kind, uintptr_t object);
// Raises MPI_ERR_GROUP for a handle that is not a live group.
__attribute__((cold)) int gompi_raise_invalid_group(MPI_Group group, const char *call);

#pragma GCC visibility pop
#endif
