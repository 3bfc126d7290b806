// Groups (MPI-5.0 7.3). A group that a communicator or window has is made when the application asks for it first, and
// has one handle however often it is asked for: each time one more MPI_Group_free is due. Programs that ask before
// every operation and never free cost nothing.
#ifndef GOMPI_GROUP_H
#define GOMPI_GROUP_H

#include "base/abi.h"
#include "base/objects.h"
#include "base/ranks.h"

enum { GOMPI_RANK_UNKNOWN = INT32_MIN };

struct gompi_group {
	struct gompi_group *next; // of those to be used again
	struct gompi_ranks ranks;
	gompi_ai32 rank;  // of this process, MPI_UNDEFINED: it is no member; GOMPI_RANK_UNKNOWN: nobody has asked
	uintptr_t handle; // if there are holders
	uint64_t holders; // calls of MPI_Group_free that are due
	bool owned;       // a communicator or window has it
};

#pragma GCC visibility push(hidden)

extern struct gompi_objects gompi_groups;
extern struct gompi_group gompi_group_empty;
// Moved on when a handle stands for no group any longer, so that what is remembered by handle is looked up anew.
extern gompi_a64 gompi_groups_version;

// The live group that has this handle, or NULL.
static inline const struct gompi_group *gompi_group_get(MPI_Group group) {
	if (group == MPI_GROUP_EMPTY)
		return &gompi_group_empty;
	return gompi_table_get(&gompi_groups.handles.table, (uintptr_t)group);
}

// Stores a handle of the group with these members, which an object has and keeps in *owned, to be freed once more.
// MPI_SUCCESS or MPI_ERR_NO_MEM.
int gompi_group_hold(struct gompi_group **owned, const struct gompi_ranks *members, MPI_Group *group);
// Makes a group of members, which it keeps, and stores its handle. What the call returns: MPI_ERR_ARG, MPI_ERR_NO_MEM.
int gompi_group_keep(const char *call, struct gompi_ranks *members, MPI_Group *newgroup);
// The object has gone; the group stays until it has been freed.
void gompi_group_disown(struct gompi_group **owned);

// Raises MPI_ERR_NO_MEM: a call could not have another group.
__attribute__((cold)) int gompi_no_more_groups(const char *call, int kind, uintptr_t object);
// Raises MPI_ERR_GROUP for a handle that is no live group.
__attribute__((cold)) int gompi_not_a_group(MPI_Group group, const char *call);

#pragma GCC visibility pop
#endif
