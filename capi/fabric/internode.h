// Groups of node leaders: barriers and exchanges of small data among processes on different nodes, one record per
// round.
//
// A group is a list of processes with an id on which the processes agree. Usually a group has one process from each
// node on which a window or communicator has members. All members make the same calls on a group in the same order. In
// each member, only one thread at a time makes calls on the group.
#ifndef GOMPI_FABRIC_INTERNODE_H
#define GOMPI_FABRIC_INTERNODE_H

#include "base/wait.h"

#pragma GCC visibility push(hidden)

// The name space of a group id. Ids of different name spaces never collide.
enum gompi_internode_space {
	INTERNODE_COMM = 1,  // the id of a communicator, whose low 4 bits are 0
	INTERNODE_WIN = 2,   // the handle of a window << 4
	INTERNODE_OTHER = 3, // a number chosen by the caller << 4
};

static inline uint64_t gompi_internode_id(enum gompi_internode_space kind, uint64_t number) {
	return kind == INTERNODE_COMM ? number | INTERNODE_COMM : number << 4 | (uint64_t)kind;
}

struct gompi_internode;

// Opens a group at rank `me` of n members. The array `peers` holds the members' ranks in MPI_COMM_WORLD, and is not
// used after the call. Sends nothing. At this time, other members may already use the group or may not have opened it
// yet. Uses O(log n) memory. Returns NULL if out of memory.
struct gompi_internode *gompi_internode_open(uint64_t id, int n, int me, const int32_t *peers);

// Closes the group at this member, after this member's last call on the group. Other members may still be in their last
// call. The argument m may be NULL.
void gompi_internode_close(struct gompi_internode *m);

// Runs a barrier: waits until all members have made this call. Takes ceil(log2 n) rounds, in which each member sends
// one record. Returns 0, MPI_ERR_NO_MEM, or MPI_ERR_PROC_ABORTED if a member has failed. The group cannot be used after
// an error.
int gompi_internode_barrier(struct gompi_internode *m, const struct gompi_wait_desc *waiting);

// Identifies a call. Members of matching calls pass the same signature and format.
struct gompi_internode_call {
	uint64_t signature, format;
	int32_t rank; // rank of the member, for error messages; may differ between members
};

// Maximum bytes of data in a record of a call: enough for 64 KiB and a description of the data.
enum { GOMPI_INTERNODE_MAX_BYTES = (64 << 10) + 64 };

// Result of a call in which several members contribute data, if the members' calls do not match. Calls match if they
// have the same signature, format and number of bytes. *call then describes the call of a member that does not match.
enum { GOMPI_INTERNODE_MISMATCH = -1 };

// One block per member, all of the same size. The blocks of n / 2 members (at least one) must together fit into
// GOMPI_INTERNODE_MAX_BYTES bytes, because one record carries them.
struct gompi_internode_blocks {
	uint32_t block_bytes;
	// Writes one segment of this member's block into a record, at the address `at`. In an all-to-all, this is the
	// block for member `to`. The function may be called several times for a block, and must not block.
	void (*fill)(void *arg, int to, uint64_t segment, char *at);
	void *arg;
	// Output: n addresses, by member, of the blocks that the other members sent. The blocks are valid until the
	// next call on the group. This member's element is not set.
	const char **received;
};

// Sends the block of each member to all members (allgather). Synchronizes all members as gompi_internode_barrier does,
// in as many rounds. The argument `mismatch` is normally NULL. If a process that this member represents makes a call
// that does not match *call, `mismatch` is that call, and all members return GOMPI_INTERNODE_MISMATCH.
int gompi_internode_allgather(struct gompi_internode *m, struct gompi_internode_call *call,
			      const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			      const struct gompi_wait_desc *waiting);

// Sends each member its blocks: every member has one block for each member (all-to-all). Synchronization, the argument
// `mismatch` and results are as in gompi_internode_allgather.
int gompi_internode_alltoall(struct gompi_internode *m, struct gompi_internode_call *call,
			     const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			     const struct gompi_wait_desc *waiting);

// Sends the blocks of all members to the root (gather). Sets b->received only at the root. The argument `mismatch` is
// as in gompi_internode_allgather.
//
// Synchronizes all members, except in a group of two members that have both opened the group. In such a group of two,
// the non-root member waits for the root only once every few calls. In all other calls, a mismatch may go unnoticed at
// this member. If wait_for_root is true, the non-root member always waits for a record from the root, and learns of
// each mismatch. All members must pass the same wait_for_root, so the caller derives its value from signature and
// format.
int gompi_internode_gather(struct gompi_internode *m, int root, struct gompi_internode_call *call,
			   const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			   bool wait_for_root, const struct gompi_wait_desc *waiting);

// Maximum number of members of a stream. In groups of this size, each record holds the block of only one member.
enum { GOMPI_STREAM_MAX_MEMBERS = 3 };

// Exchanges segments 1 to n - 1 of the members' blocks, with several segments in progress at a time. Before that, a
// gompi_internode_allgather or gompi_internode_alltoall must have exchanged segment 0 and returned 0. The group has at
// most GOMPI_STREAM_MAX_MEMBERS members. Calls on_segment for each segment, when b->received points to the segment's
// blocks.
int gompi_internode_stream(struct gompi_internode *m, struct gompi_internode_blocks *b, uint64_t n,
			   void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting);

// Sends the root's *call and up to GOMPI_INTERNODE_MAX_BYTES bytes of data to all members, along a binomial tree
// (broadcast). At the root, *call, *data and *bytes are input. At the other members they are output, and *data is valid
// until the next call on m.
//
// A member other than the root waits for its parent in the tree. The root waits in two cases only. Once every few
// calls, all members synchronize. The root also waits until a peer has opened the group, if no credit for early records
// is left (early.h).
int gompi_internode_bcast(struct gompi_internode *m, int root, struct gompi_internode_call *call, const void **data,
			  uint32_t *bytes, const struct gompi_wait_desc *waiting);

// Registers the handler of the port FABRIC_INTERNODE. Callers call it before the network is opened.
void gompi_internode_start(void);

#pragma GCC visibility pop
#endif
