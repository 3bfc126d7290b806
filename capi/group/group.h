// A group as the calls that only ask see it. core/group decides what is in it. C learns it when it is asked about a
// handle for the first time: groups that are made and freed again cost nothing.
#ifndef GOMPI_GROUP_H
#define GOMPI_GROUP_H

#include "base/abi.h"
#include "base/ranks.h"
#include "base/table.h"

#pragma GCC visibility push(hidden)

struct gompi_group {
	int rank; // of this process, MPI_UNDEFINED: it is no member
	struct gompi_ranks ranks;
	struct gompi_group *next; // of slots without a group
};

extern struct gompi_table gompi_group_table;
extern struct gompi_group gompi_group_empty;

// Asks Go for a group that C does not know yet; NULL: there is none.
__attribute__((cold)) const struct gompi_group *gompi_group_ask(MPI_Group group);

// The live group that has this handle, or NULL.
static inline const struct gompi_group *gompi_group_get(MPI_Group group) {
	if (group == MPI_GROUP_EMPTY)
		return &gompi_group_empty;
	const struct gompi_group *g = gompi_table_get(&gompi_group_table, (uintptr_t)group);
	return g != NULL ? g : gompi_group_ask(group);
}

// Makes ranks, of which the list is copied, the group with this handle. One thread at a time. false: there is no
// memory.
bool gompi_group_put(uintptr_t handle, struct gompi_ranks ranks);
// Forgets a handle, which C may not know.
void gompi_group_remove(uintptr_t handle);

#pragma GCC visibility pop
#endif
