// Groups of node leaders: barriers and exchanges of small data among processes on different nodes, one record per
// round.
//
// A group is a list of processes and an id on which they agree. Usually it has one process of each node on which a
// window or communicator has members. All members make the same calls on a group in the same order. In each member, one
// thread at a time makes them.
#ifndef GOMPI_LEADERS_H
#define GOMPI_LEADERS_H

#include "base/wait.h"

#pragma GCC visibility push(hidden)

// The name space of an id. Ids of different kinds never collide.
enum gompi_leaders_kind {
	LEADERS_COMM = 1,  // the id of a communicator, whose low 4 bits are 0
	LEADERS_WIN = 2,   // the handle of a window << 4
	LEADERS_OTHER = 3, // a number chosen by the caller << 4
};

static inline uint64_t gompi_leaders_id(enum gompi_leaders_kind kind, uint64_t number) {
	return kind == LEADERS_COMM ? number | LEADERS_COMM : number << 4 | (uint64_t)kind;
}

struct gompi_leaders;

// Opens a group for member me of n. peers holds the n ranks in MPI_COMM_WORLD of the members; it is not kept. Sends
// nothing. Other members may already use the group, or not have opened it yet. Uses O(log n) memory. Returns NULL if
// out of memory.
struct gompi_leaders *gompi_leaders_open(uint64_t id, int n, int me, const int32_t *peers);

// Closes the group at this member, after its last call. Other members may still be in their last call. m may be NULL.
void gompi_leaders_close(struct gompi_leaders *m);

// Waits until all members have called it as often as this one (barrier). ceil(log2 n) rounds of one record each, which
// are sent at once. Returns 0; MPI_ERR_PROC_ABORTED if a member has failed, after which the group cannot be used;
// MPI_ERR_NO_MEM.
int gompi_leaders_barrier(struct gompi_leaders *m, const struct gompi_waiting *what);

// Identifies a call. Members of matching calls pass the same what and plan.
struct gompi_leaders_words {
	uint64_t what, plan;
	int32_t rank; // of the member, for error messages; may differ
};

// Maximum bytes of data in a record of a call: those of a message of 64 KiB and its description.
enum { GOMPI_LEADERS_MOST = (64 << 10) + 64 };

// Returned, besides error classes, by the calls in which several members contribute data: calls do not match (different
// words or numbers of bytes). words then describes the call of a member that does not match.
enum { GOMPI_LEADERS_DIFFER = -1 };

// One block per member, all of the same size. The blocks of n / 2 members (at least one) together have at most
// GOMPI_LEADERS_MOST bytes.
struct gompi_leaders_blocks {
	uint32_t bytes;
	// Writes this member's block of a segment (`piece`) into a record. In an all-to-all it is the block for member
	// `to`. May be called several times; must not block.
	void (*put)(void *arg, int to, uint64_t piece, char *at);
	void *arg;
	// [n]: set to the blocks of the other members, valid until the next call; this member's entry is not set
	const char **got;
};

// Gives all members the blocks of each (allgather). Synchronizes all members as gompi_leaders_barrier does, in as many
// rounds. differs is NULL, or the words of a process that this member represents and whose call does not match: then
// all members return GOMPI_LEADERS_DIFFER.
int gompi_leaders_allgather(struct gompi_leaders *m, struct gompi_leaders_words *words,
			    const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			    const struct gompi_waiting *what);

// Gives each member the blocks that are for it; each member has one block for each member (all-to-all).
// Synchronization, differs and results as in gompi_leaders_allgather.
int gompi_leaders_alltoall(struct gompi_leaders *m, struct gompi_leaders_words *words,
			   const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			   const struct gompi_waiting *what);

// Gives root the blocks of all members (gather); got is set at root only. differs as in gompi_leaders_allgather.
//
// Synchronizes all members, except in a group of two in which all have opened the group. There the other member does
// not wait for root (except once every few calls), and need not learn of a mismatch. With verdict it waits for root's
// answer, and learns of a mismatch. All members pass the same verdict, since it follows from words.
int gompi_leaders_gather(struct gompi_leaders *m, int root, struct gompi_leaders_words *words,
			 const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b, bool verdict,
			 const struct gompi_waiting *what);

// Maximum number of members with which each record holds the block of only one member.
enum { GOMPI_LEADERS_FEW = 3 };

// Exchanges segments 1 to n - 1 of the members' blocks, several of which are in progress at a time. Must follow a
// gompi_leaders_allgather or _alltoall among at most GOMPI_LEADERS_FEW members that has returned 0. Calls taken when
// got points to the blocks of a segment.
int gompi_leaders_stream(struct gompi_leaders *m, struct gompi_leaders_blocks *b, uint64_t n,
			 void (*taken)(void *arg, uint64_t piece), const struct gompi_waiting *what);

// Sends the words of root and up to GOMPI_LEADERS_MOST bytes of data to all members, along a binomial tree (broadcast).
// At root, words, *data and *bytes are input. Elsewhere they are output, and *data is valid until the next call on m.
//
// A member other than root waits for its parent in the tree. Root does not wait, with two exceptions. Once every few
// calls it synchronizes all members. If it has sent much to a peer that has not opened the groups yet, it waits until
// the peer opens this one (desk.h).
int gompi_leaders_bcast(struct gompi_leaders *m, int root, struct gompi_leaders_words *words, const void **data,
			uint32_t *bytes, const struct gompi_waiting *what);

// Registers the handler of FABRIC_LEADERS. Must be called before the network is opened.
void gompi_leaders_start(void);

#pragma GCC visibility pop
#endif
