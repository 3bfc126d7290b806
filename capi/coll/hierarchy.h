// Collectives among members on several nodes: those of a node share slots, and the lowest of each, its leader, meets
// the others (fabric/leaders.h). What is little is done here, to the end and without a call into Go; the members of a
// call that moves more agree here on what it is.
#ifndef GOMPI_HIERARCHY_H
#define GOMPI_HIERARCHY_H

#include "base/barrier.h"
#include "coll/slots.h"
#include "fabric/leaders.h"

#pragma GCC visibility push(hidden)

// One member's view of a communicator over several nodes.
struct gompi_hierarchy {
	int n, me;                     // ranks in the communicator
	int nodes, node;               // number of nodes, and which is this one
	int here, place;               // members on this node, and which of them is this one
	int most_here;                 // on any node
	int32_t *node_of;              // [n]
	int32_t *local;                // [here]: ranks, ascending
	uint32_t barriers;             // so far
	uint64_t object;               // handle of the communicator, for reports; 0: it has none
	struct gompi_slots *slots;     // of the members on this node; NULL: there is one
	struct gompi_barrier *barrier; // of them, in two halves
	struct gompi_leaders *leaders; // of the leaders; NULL: this is none
	char *own;                     // what the members of this node bring, at a leader of several
	const char **got;              // [nodes]: what the leaders bring, at one; this node's is own
	struct gompi_hierarchy *next;
};

// Makes the view that s describes; node_of and local are copied, slots and barrier are given. id is that of the
// communicator's messages, leaders the ranks in MPI_COMM_WORLD of the leaders. NULL: there is no memory.
struct gompi_hierarchy *gompi_hierarchy_open(const struct gompi_hierarchy *s, uint64_t id, const int32_t *leaders);
// It may be used again for another communicator, as slots may.
void gompi_hierarchy_close(struct gompi_hierarchy *s);

// The collectives that can begin here.
static inline bool gompi_hierarchy_fits(int kind) {
	switch (kind) {
	case GOMPI_BARRIER:
	case GOMPI_BCAST:
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return true;
	}
	return false;
}

// Does a call, as gompi_slots_run does. GOMPI_SLOTS_MESSAGES: all members have made the same call, of which nothing is
// done; of a broadcast c->bytes is what root has, and differ tells whether that is not what this member has.
int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_slots_call *c);

#pragma GCC visibility pop
#endif
