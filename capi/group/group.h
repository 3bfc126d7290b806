// A group as the calls that only ask see it. core/group decides what is in it. C learns it when it is asked about a
// handle for the first time: groups that are made and freed again cost nothing.
#ifndef GOMPI_GROUP_H
#define GOMPI_GROUP_H

#include "base/abi.h"
#include "base/known.h"
#include "base/ranks.h"

#pragma GCC visibility push(hidden)

struct gompi_group {
	int rank; // of this process, MPI_UNDEFINED: it is no member
	struct gompi_ranks ranks;
	struct gompi_group *next; // of slots without a group
};

extern struct gompi_known gompi_groups;
extern struct gompi_group gompi_group_empty;

// The live group that has this handle, or NULL.
static inline const struct gompi_group *gompi_group_get(MPI_Group group) {
	if (group == MPI_GROUP_EMPTY)
		return &gompi_group_empty;
	return gompi_known_get(&gompi_groups, (uintptr_t)group);
}

// Makes ranks, of which the list is copied, the group with this handle. false: there is no memory.
bool gompi_group_put(uintptr_t handle, struct gompi_ranks ranks);

#pragma GCC visibility pop
#endif
