// Slots: memory that the members of a communicator on one node share, in which collectives run without messages.
//
// Every call is one or more operations, numbered alike by all members since they all make the same calls in the same
// order. In an operation a member may fill its slot, may read those of others, and then says that it has finished. A
// slot is a head, which holds a few bytes of data itself, and a body for more; both are used in turn by the number of
// the operation, and filled again only when all members have finished the operation that they were filled for. So a
// member may be some operations ahead of another.
//
// Members that pass different lengths would count differently and hang, now or in a later call. So a call of which a
// member thinks that it takes more than one operation begins with one in which the plans are compared, and goes on only
// if they agree. A call of one operation is over with that operation, whatever the others had. What does not belong
// together is left out and told at the end.
//
// Who runs a call does not matter: entry points in C (calls.c) for what is quick to check, core/coll for the rest.
// Both come here, with the data as bytes.
#ifndef GOMPI_SLOTS_H
#define GOMPI_SLOTS_H

#include "base/wait.h"
#include "coll/reduction.h"
#include "datatype/buffer.h"

#pragma GCC visibility push(hidden)

// The collectives that go through slots: numbers of core/coll.Kind, compared in capi/coll_slots.go.
enum {
	GOMPI_BARRIER = 0,
	GOMPI_BCAST = 1,
	GOMPI_REDUCE = 2,
	GOMPI_ALLREDUCE = 3,
	GOMPI_GATHER = 4,
	GOMPI_GATHERV = 5,
	GOMPI_SCATTER = 6,
	GOMPI_SCATTERV = 7,
	GOMPI_ALLGATHER = 8,  // and MPI_Allgatherv
	GOMPI_ALLGATHERV = 9, // as Go counts it
	GOMPI_ALLTOALL = 10,
	GOMPI_ALLTOALLV = 11,
	GOMPI_ALLTOALLW = 12,
	GOMPI_SCAN = 13,
	GOMPI_EXSCAN = 14,
	GOMPI_REDUCE_SCATTER = 15,       // and MPI_Reduce_scatter_block
	GOMPI_REDUCE_SCATTER_BLOCK = 16, // as Go counts it
	GOMPI_NEIGHBOR_ALLGATHER = 17,
	GOMPI_NEIGHBOR_ALLGATHERV = 18,
	GOMPI_NEIGHBOR_ALLTOALL = 19,
	GOMPI_NEIGHBOR_ALLTOALLV = 20,
	GOMPI_NEIGHBOR_ALLTOALLW = 21,
	GOMPI_IDUP = 22, // MPI_Comm_idup, on boards
};

enum {
	GOMPI_SLOT_INLINE = 40, // bytes of data in a head
	GOMPI_SLOT_SMALL = 2 << 10,
	GOMPI_SLOT_LARGE = 16 << 10,
	GOMPI_SLOT_HEADS = 16, // so many of each a member has
	GOMPI_SLOT_BODIES = 4,
	GOMPI_PAIRS_MOST = 64, // members who each have a block for each
};

// States of struct gompi_slots_mail. Whom a member asks is in the state and in no word of its own: who found that it is
// asked, and then itself in such a word, might have read the one before and the other after the next question.
enum { GOMPI_MAIL_IDLE, GOMPI_MAIL_HERE, GOMPI_MAIL_ASKED /* and the writer, whose data is wanted */ };

struct gompi_slot_head {
	_Alignas(GOMPI_LINE) gompi_a64 number; // of the operation that the slot is filled for, written last
	gompi_a64 what;                        // which collective, which root, how many bytes
	gompi_a64 plan;                        // what decides how many operations the call takes, and in which bodies
	char data[GOMPI_SLOT_INLINE];
};

// A member that cannot read another's memory asks it for a piece here, and finds it here (pairs.c). One at a time.
struct gompi_slots_mail {
	_Alignas(GOMPI_LINE) gompi_a64 state; // GOMPI_MAIL_, written last
	gompi_a64 block, from, bytes;         // of which block, which part
	_Alignas(GOMPI_LINE) char data[GOMPI_SLOT_SMALL];
};

// What a member shares with the others in the control block of the communicator.
struct gompi_slots_member {
	_Alignas(GOMPI_LINE) gompi_a64 finished; // number of the last operation that it has finished
	// Who waits for this member sleeps here. Beside what others look for it would be read from afar each time.
	_Alignas(GOMPI_LINE) struct gompi_waitword wait;
	struct gompi_slot_head head[GOMPI_SLOT_HEADS];
	_Alignas(GOMPI_LINE) char body[GOMPI_SLOT_BODIES][GOMPI_SLOT_SMALL];
	struct gompi_slots_mail mail;
};

// And what it has of the memory that a communicator gets with the first call that needs it.
struct gompi_slots_more {
	_Alignas(GOMPI_LINE) char body[GOMPI_SLOT_BODIES][GOMPI_SLOT_LARGE];
};

// One member's view. It is used by one thread at a time, as the standard demands of collective calls on one
// communicator.
struct gompi_slots {
	struct gompi_slots_member *member; // [n]
	struct gompi_slots_more *more;     // [n], NULL: none yet
	bool no_more;                      // there is no memory for it, at any member
	bool no_direct;                    // a member cannot read another's memory
	int n, me;
	int32_t *peers;   // ranks in MPI_COMM_WORLD
	uint64_t seq;     // number of the operation under way
	uint64_t settled; // all members are known to have finished this one
	uint64_t object;  // handle of the communicator, for reports; 0: it has none
	uintptr_t owner;  // whom gompi_up.more_slots is told
	const char *call; // name of the call under way
	struct gompi_slots *next;
};

// Where the blocks of all members lie, each together, all of one size or of sizes of their own.
struct gompi_blocks {
	char *base;
	uint64_t stride;
	const uintptr_t *list; // instead of both
};

static inline char *gompi_block(const struct gompi_blocks *b, int i) {
	return b->list != NULL ? (char *)b->list[i] : b->base + (uint64_t)i * b->stride;
}

// A block that goes to one member, or comes from it.
struct gompi_pair_block {
	int32_t member; // -1: there is none
	struct gompi_buffer buf;
};

// What another member does is not what this one does.
struct gompi_slots_differ {
	int32_t rank;
	uint64_t theirs, their_plan, ours, our_plan;
};

// What one member does, as bytes. Arguments that do not count at this member are not looked at.
//
//	GOMPI_BCAST               out is the buffer, of bytes
//	GOMPI_REDUCE, ALLREDUCE,
//	SCAN, EXSCAN              bytes of in and out, which may be the same memory
//	GOMPI_REDUCE_SCATTER      in has sizes[i] bytes for each member i, bytes together; out is no part of it
//	GOMPI_GATHER              bytes of in, which may be this member's of outs
//	GOMPI_SCATTER             bytes of out, which may be this member's of ins
//	GOMPI_ALLGATHER           bytes of in, which may be this member's of outs; outs of sizes[i], or of bytes each
//	GOMPI_ALLTOALL            bytes of each of ins and outs, which may be the same memory
//	GOMPI_GATHERV, SCATTERV,
//	ALLTOALLV, ALLTOALLW
//	and of neighborhoods      to and from; see pairs.c
struct gompi_slots_call {
	int kind, root;
	const char *name; // of the function, for reports
	uint64_t bytes;
	const char *in;
	char *out;
	struct gompi_blocks ins, outs;
	const uint64_t *sizes; // NULL: all are bytes
	struct gompi_reduction reduction;
	const struct gompi_pair_block *to, *from; // [sends], [receives]
	int sends, receives;
	bool in_place; // what to has is what from is about to get

	struct gompi_slots_differ differ; // result
};

// What gompi_slots_run returns besides error classes.
enum {
	GOMPI_SLOTS_DONE = 0,
	GOMPI_SLOTS_DIFFER = -1,   // see differ; the members who are not concerned have got what they should
	GOMPI_SLOTS_MESSAGES = -2, // nothing was moved: it is to be done by messages; the members have the same lengths
};

// Does a call. MPI_ERR_PROC_ABORTED: a process of the node died; MPI_ERR_INTERN; what a reduction returned.
int gompi_slots_run(struct gompi_slots *t, struct gompi_slots_call *c);

// The library's own: gives all members what root has at b, and gives each what every member has at mine, one after the
// other, of so many bytes, GOMPI_SLOT_SMALL at most. As gompi_slots_run; what differs is in *differ.
int gompi_slots_tell(struct gompi_slots *t, int root, void *b, uint64_t bytes, struct gompi_slots_differ *differ);
int gompi_slots_tell_all(struct gompi_slots *t, const void *mine, void *all, uint64_t bytes,
			 struct gompi_slots_differ *differ);

// Returns true if n members can have a call of this kind go through slots; the others are for messages.
static inline bool gompi_slots_fit(int kind, int n) {
	switch (kind) {
	case GOMPI_GATHER:
	case GOMPI_SCATTER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_REDUCE_SCATTER:
		return n <= GOMPI_SLOT_SMALL; // a byte for each
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return n <= GOMPI_PAIRS_MOST;
	}
	return true;
}

// What went wrong, for the text of an error class.
const char *gompi_slots_text(int class);

// Makes the view of member me of n, whose ranks in MPI_COMM_WORLD are peers (copied), on n * sizeof(struct
// gompi_slots_member) bytes of zeroed memory. NULL: there is no memory.
struct gompi_slots *gompi_slots_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Makes the memory zero again that counts what members do, once none of them uses it any longer. What was data stays.
void gompi_slots_clean(struct gompi_slots *t);
// The view may be used again for another communicator. It is not given back to the system, so that a call that comes
// too late finds memory.
void gompi_slots_close(struct gompi_slots *t);

#pragma GCC visibility pop
#endif
