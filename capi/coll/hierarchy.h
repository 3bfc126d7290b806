// Two-level collectives of communicators that span several nodes. The members on one node use shared-memory
// collectives. The lowest rank of each node is its leader and exchanges data with the other leaders
// (message/leaders.h). Calls with little data run completely in these functions, without Go. For calls with more data,
// these functions only compare the members' arguments, and messages then move the data.
#ifndef GOMPI_HIERARCHY_H
#define GOMPI_HIERARCHY_H

#include "base/barrier.h"
#include "coll/shm_coll.h"
#include "message/leaders.h"

#pragma GCC visibility push(hidden)

// One member's private state (its view) for the two-level collectives of a communicator.
struct gompi_hierarchy {
	int n, me;                       // members of the communicator, and rank of this member
	int nodes, node;                 // number of nodes, and index of this node
	int local_size, local_rank;      // members on this node, and index of this member among them
	bool is_regular;                 // the members of each node have consecutive ranks
	int max_ranks_per_node;          // largest number of members on any node
	int32_t *node_of;                // [n]: index of each member's node
	int32_t *local_ranks;            // [local_size]: ranks of the members on this node, ascending
	uint32_t barrier_count;          // number of barriers that this member has executed on `barrier`
	uint64_t object;                 // handle of the communicator, for reports; 0 if there is none
	struct gompi_shm_coll *shm_coll; // view of this node's members; NULL if there is only one member
	// Barrier of this node's members. Between its two halves (gather, release) the leader synchronizes with the
	// other leaders. NULL if there is only one member.
	struct gompi_barrier *barrier;
	struct gompi_leaders *leaders; // group of the node leaders; NULL if this member is no leader
	// At a leader: data of the members on this node; NULL if each node has one member.
	char *local_block;
	// At a leader, [nodes]: data received from each leader; the element of this node is local_block.
	const char **leader_blocks;
	struct gompi_hierarchy *next;
};

// Returns a view with the contents of s. Copies the arrays node_of and local_ranks, but not the objects to which
// shm_coll and barrier point. The arguments m, context and `leaders` (process numbers) are those of
// gompi_leaders_open. Returns NULL if out of memory.
struct gompi_hierarchy *gompi_hierarchy_open(const struct gompi_hierarchy *s, struct gompi_messages *m,
					     uint64_t context, const int32_t *leaders);
// Returns the view to a free list. The view's memory is never freed, like that of struct gompi_shm_coll.
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
	case GOMPI_ALLGATHERV:
	case GOMPI_ALLTOALL:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return true;
	}
	return false;
}

// Runs a call. Returns the same values as gompi_shm_run. After GOMPI_COLL_USE_MESSAGES, all members have made the same
// call and no data has moved. After a broadcast with this result, c->bytes is the root's length, and c->mismatch is set
// if this member's own length differs from it.
int gompi_hierarchy_run(struct gompi_hierarchy *s, struct gompi_coll_call *c);

#pragma GCC visibility pop
#endif
