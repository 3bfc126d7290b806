// Two-level collectives of communicators that span several nodes. The members on one node use shared-memory
// collectives. The lowest rank of each node is its leader and exchanges data with the other leaders
// (fabric/internode.h). Small calls run in these functions completely, without Go. For larger calls the members only
// compare their arguments; messages then move the data.
#ifndef GOMPI_HIERARCHY_H
#define GOMPI_HIERARCHY_H

#include "base/barrier.h"
#include "coll/shm_coll.h"
#include "fabric/internode.h"

#pragma GCC visibility push(hidden)

// One member's view of a communicator over several nodes.
struct gompi_hierarchy {
	int n, me;                  // ranks in the communicator
	int nodes, node;            // number of nodes, and the index of this one
	int local_size, local_rank; // members on this node, and the index of this one among them
	int max_ranks_per_node;     // largest number of members on any node
	int32_t *node_of;           // [n]
	int32_t *local_ranks;       // [local_size]: ranks of the members on this node, ascending
	uint32_t barrier_count;
	uint64_t object;                   // handle of the communicator, for reports; 0 if it has none
	struct gompi_shm_coll *shm_coll;   // of the members on this node; NULL if there is only one
	struct gompi_barrier *barrier;     // of the members on this node, in two halves
	struct gompi_internode *internode; // connections of the leaders; NULL if this member is no leader
	char *local_block;                 // data of this node's members, at a leader of several members
	const char **leader_blocks; // [nodes]: data of each leader, at a leader; the entry of this node is local_block
	struct gompi_hierarchy *next;
};

// Returns a view with the contents of s. Copies node_of and local_ranks; uses shm_coll and barrier as they are. id
// identifies the communicator's messages. leaders holds the leaders' ranks in MPI_COMM_WORLD. Returns NULL if out of
// memory.
struct gompi_hierarchy *gompi_hierarchy_open(const struct gompi_hierarchy *s, uint64_t id, const int32_t *leaders);
// Returns the view to a free list. Its memory stays valid, like that of struct gompi_shm_coll.
void gompi_hierarchy_close(struct gompi_hierarchy *s);

// Returns true if collectives of this kind can start in gompi_hierarchy_run.
static inline bool gompi_hierarchy_supports(int kind) {
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

// Runs a call with the results of gompi_shm_run. GOMPI_COLL_USE_MESSAGES: all members made the same call and no data
// has moved. For a broadcast c->bytes is then root's length, and c->mismatch tells whether this member's length
// differs.
int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_coll_call *c);

#pragma GCC visibility pop
#endif
