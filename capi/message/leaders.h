// Groups of node leaders: barriers and exchanges of small data among processes on different nodes, one message per
// round.
//
// A group is a list of processes with a context on which the processes agree. Usually a group has one process from each
// node on which a window or communicator has members. All members make the same calls on a group in the same order. In
// each member, only one thread at a time makes calls on the group.
#ifndef GOMPI_MESSAGE_LEADERS_H
#define GOMPI_MESSAGE_LEADERS_H

#include "message/remote.h"

#pragma GCC visibility push(hidden)

struct gompi_leaders;

// Opens a group at rank `me` of n members, whose messages have the given context in the message layer m. If m is NULL,
// it is the message layer of the application. The array `peers` holds the members' process numbers, and is not used
// after the call. Sends nothing. At this time, other members may already use the group or may not have opened it yet.
// Uses O(log n) memory. Returns NULL if out of memory.
struct gompi_leaders *gompi_leaders_open(struct gompi_messages *m, uint64_t context, int n, int me,
					 const int32_t *peers);

// Closes the group at this member, after this member's last call on the group. Other members may still be in their last
// call. The argument g may be NULL.
void gompi_leaders_close(struct gompi_leaders *g);

// Runs a barrier: waits until all members have made this call. Takes ceil(log2 n) rounds, in which each member sends
// one message. Returns 0, MPI_ERR_NO_MEM, or MPI_ERR_PROC_ABORTED if a member has failed. The group cannot be used
// after an error.
int gompi_leaders_barrier(struct gompi_leaders *g, const struct gompi_wait_desc *waiting);

// Identifies a call. Members of matching calls pass the same signature and format.
struct gompi_leaders_call {
	uint64_t signature, format;
	int32_t rank; // rank of the member, for error messages; may differ between members
};

enum gompi_leaders_kind { LEADERS_BLOCKS, LEADERS_BCAST, LEADERS_OTHER_CALL };

// A message of a group. In some kinds, data follows the head. The data begins at a multiple of 16, because operands of
// any type are reduced in place.
struct gompi_leaders_message {
	uint32_t generation; // number of the call
	uint32_t kind;       // enum gompi_leaders_kind
	struct gompi_leaders_call_info {
		uint64_t signature, format;
		uint32_t bytes; // bytes of a member's data
		int32_t rank;
	} call; // call of the sender; in LEADERS_OTHER_CALL, the data describes a call that does not match it
	char data[];
};
_Static_assert(sizeof(struct gompi_leaders_message) % 16 == 0, "operands of any type");

// Maximum bytes of data in a message of a call: enough for 64 KiB and a description of the data.
enum { GOMPI_LEADERS_MAX_BYTES = REMOTE_MAX_DATA - (int)sizeof(struct gompi_leaders_message) };

// Result of a call in which several members contribute data, if the members' calls do not match. Calls match if they
// have the same signature, format and number of bytes. *call then describes the call of a member that does not match.
enum { GOMPI_LEADERS_MISMATCH = -1 };

enum gompi_leaders_flow {
	LEADERS_ALLGATHER, // each member has one block, which all members receive
	LEADERS_ALLTOALL,  // each member has one block for each member
	LEADERS_GATHER,    // each member has one block, which only the root receives
};

// The blocks of an exchange, all of the same size. The blocks of n / 2 members (at least one) must together fit into
// GOMPI_LEADERS_MAX_BYTES bytes, because one message carries them.
struct gompi_leaders_blocks {
	enum gompi_leaders_flow flow;
	int root; // in LEADERS_GATHER
	// In LEADERS_GATHER: every member learns of each mismatch. If it is false, a member other than the root may not
	// notice a mismatch. All members must pass the same value, so the caller derives it from signature and format.
	bool wait_for_root;
	uint32_t block_bytes;
	// Writes one segment of this member's block into a message, at the address `at`. In LEADERS_ALLTOALL, this is
	// the block for member `to`. The function may be called several times for a block, and must not block.
	void (*fill)(void *arg, int to, uint64_t segment, char *at);
	void *arg;
	// Output: n addresses, by member, of the blocks that this member has received from the other members. The
	// blocks are valid until the next call on the group. This member's element is not set. NULL if
	// block_bytes is 0 and the caller needs no addresses.
	const char **received;
};

// Exchanges blocks. Synchronizes all members as gompi_leaders_barrier does, in as many rounds. There is one exception:
// LEADERS_GATHER in a group of two members that have both opened the group. There the non-root member waits for the
// root only once every few calls, unless b->wait_for_root is true.
//
// The argument `mismatch` is normally NULL. If a process that this member represents makes a call that does not match
// *call, `mismatch` is that call, and all members return GOMPI_LEADERS_MISMATCH.
int gompi_leaders_exchange(struct gompi_leaders *g, struct gompi_leaders_call *call,
			   const struct gompi_leaders_call *mismatch, struct gompi_leaders_blocks *b,
			   const struct gompi_wait_desc *waiting);

// Handles an eager record from another node whose context is that of a group. Stores the message if the current or next
// call needs it, and drops it if no call does. Returns false if the caller must handle the record: the message is for a
// later call, memory is short, or the context has no group (the record is dropped if it has RECORD_IF_OPEN). The caller
// holds the lock of the VCI l.
bool gompi_leaders_accept(struct gompi_vci *l, const struct gompi_record *h, const char *payload);

// Maximum number of members of a stream. In groups of this size, each message holds the block of only one member.
enum { GOMPI_STREAM_MAX_MEMBERS = 3 };

// Exchanges segments 1 to n - 1 of the members' blocks, with several segments in progress at a time. Before that, a
// gompi_leaders_exchange other than LEADERS_GATHER must have exchanged segment 0 and returned 0. The group has at most
// GOMPI_STREAM_MAX_MEMBERS members. Calls on_segment for each segment, when b->received points to the segment's blocks.
int gompi_leaders_stream(struct gompi_leaders *g, struct gompi_leaders_blocks *b, uint64_t n,
			 void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting);

// Sends the root's *call and up to GOMPI_LEADERS_MAX_BYTES bytes of data to all members, along a binomial tree
// (broadcast). At the root, *call, *data and *bytes are input. At the other members they are output, and *data is valid
// until the next call on g. A member other than the root waits for its parent in the tree. Once every few calls, all
// members synchronize.
int gompi_leaders_bcast(struct gompi_leaders *g, int root, struct gompi_leaders_call *call, const void **data,
			uint32_t *bytes, const struct gompi_wait_desc *waiting);

#pragma GCC visibility pop
#endif
