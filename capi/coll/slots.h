// Slots: shared memory of the members of a communicator on one node, in which blocking collectives run without
// messages.
//
// A call consists of one or more operations. All members number them alike, because all make the same calls in the same
// order. In an operation a member may fill its slot and may read the slots of others; then it publishes that it has
// finished. A slot is a head, which holds a few bytes of data itself, and a body for more data. Heads and bodies are
// used cyclically by the number of the operation. A member refills one only after all members have finished the
// operation that used it before. So members may be some operations apart.
//
// Members that pass different lengths would count operations differently and hang, now or in a later call. Therefore a
// call that takes more than one operation, in the opinion of any member, begins with an operation that compares the
// plans, and continues only if they agree. A call of one operation ends with it, whatever the other members passed.
// Data of calls that do not match is skipped, and the mismatch is reported at the end.
//
// Both the entry points in C (calls.c), for calls that are quick to check, and core/coll, for all other calls, run
// calls here, with the data as bytes.
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
	GOMPI_ALLGATHERV = 9, // number in Go; runs as GOMPI_ALLGATHER
	GOMPI_ALLTOALL = 10,
	GOMPI_ALLTOALLV = 11,
	GOMPI_ALLTOALLW = 12,
	GOMPI_SCAN = 13,
	GOMPI_EXSCAN = 14,
	GOMPI_REDUCE_SCATTER = 15,       // and MPI_Reduce_scatter_block
	GOMPI_REDUCE_SCATTER_BLOCK = 16, // number in Go; runs as GOMPI_REDUCE_SCATTER
	GOMPI_NEIGHBOR_ALLGATHER = 17,
	GOMPI_NEIGHBOR_ALLGATHERV = 18,
	GOMPI_NEIGHBOR_ALLTOALL = 19,
	GOMPI_NEIGHBOR_ALLTOALLV = 20,
	GOMPI_NEIGHBOR_ALLTOALLW = 21,
	GOMPI_IDUP = 22, // MPI_Comm_idup, on boards
};

enum {
	GOMPI_SLOT_INLINE = 40,      // bytes of data in a head
	GOMPI_SLOT_SMALL = 2 << 10,  // bytes of a body in the control block
	GOMPI_SLOT_LARGE = 16 << 10, // bytes of a body in the memory that a communicator allocates later
	GOMPI_SLOT_HEADS = 16,       // heads of each member
	GOMPI_SLOT_BODIES = 4,       // bodies of each member
	GOMPI_PAIRS_MOST = 64,       // members of a call in which each has a block for each other one
};

// States of struct gompi_slots_mail. The state includes the rank of the member asked (GOMPI_MAIL_ASKED + rank). With
// the rank in a word of its own, a member could read the state of one request and the rank of the next.
enum { GOMPI_MAIL_IDLE, GOMPI_MAIL_HERE, GOMPI_MAIL_ASKED /* plus the rank of the member asked */ };

struct gompi_slot_head {
	_Alignas(GOMPI_LINE) gompi_a64 number; // of the operation that the slot is filled for; written last
	gompi_a64 what;                        // collective, root and bytes (gompi_what)
	// decides how many operations the call takes and in which bodies (gompi_plan)
	gompi_a64 plan;
	char data[GOMPI_SLOT_INLINE];
};

// Request box of a member that cannot read another member's memory (pairs.c). The owner asks here for a segment, and
// the member that has the data copies it here. One request at a time.
struct gompi_slots_mail {
	_Alignas(GOMPI_LINE) gompi_a64 state; // GOMPI_MAIL_; written last
	gompi_a64 block, from, bytes;         // which block, and which range of it
	_Alignas(GOMPI_LINE) char data[GOMPI_SLOT_SMALL];
};

// The memory of one member in the control block of the communicator. The member writes it, except its mail; the other
// members read it.
struct gompi_slots_member {
	_Alignas(GOMPI_LINE) gompi_a64 finished; // number of the last operation that this member has finished
	// Members that wait for this member sleep here. It has a cache line of its own: in the line of words that other
	// members poll, each look at it would miss the cache.
	_Alignas(GOMPI_LINE) struct gompi_waitword wait;
	struct gompi_slot_head head[GOMPI_SLOT_HEADS];
	_Alignas(GOMPI_LINE) char body[GOMPI_SLOT_BODIES][GOMPI_SLOT_SMALL];
	struct gompi_slots_mail mail;
};

// A member's part of the memory that a communicator allocates at the first call that needs it.
struct gompi_slots_more {
	_Alignas(GOMPI_LINE) char body[GOMPI_SLOT_BODIES][GOMPI_SLOT_LARGE];
};

// One member's private view. One thread at a time uses it, because the standard requires that of collective calls on
// one communicator.
struct gompi_slots {
	struct gompi_slots_member *member; // [n]
	struct gompi_slots_more *more;     // [n]; NULL if not allocated yet
	bool no_more;                      // allocation failed, at all members
	bool no_direct;                    // some member cannot read another's memory; all members agree on this
	int n, me;
	int32_t *peers;   // ranks in MPI_COMM_WORLD
	uint64_t seq;     // number of the current operation
	uint64_t settled; // all members are known to have finished the operations up to this one
	uint64_t object;  // handle of the communicator, for reports; 0 if it has none
	uintptr_t owner;  // argument of gompi_up.more_slots
	const char *call; // name of the current call
	// Next view in the free list.
	struct gompi_slots *next;
};

// The blocks of all members, each contiguous: at base + i * stride, or at list[i].
struct gompi_blocks {
	char *base;
	uint64_t stride;
	const uintptr_t *list; // instead of both
};

static inline char *gompi_block(const struct gompi_blocks *b, int i) {
	return b->list != NULL ? (char *)b->list[i] : b->base + (uint64_t)i * b->stride;
}

// A block that this member sends to, or receives from, one member.
struct gompi_pair_block {
	int32_t member; // -1 if there is no block
	struct gompi_buffer buf;
};

// A mismatch: the signatures of member rank's call and of this member's call.
struct gompi_slots_differ {
	int32_t rank;
	uint64_t theirs, their_plan, ours, our_plan;
};

// The call of one member, with data as bytes. Arguments that are not significant at this member are not read.
//
//     GOMPI_BCAST               out is the buffer, of bytes
//     GOMPI_REDUCE, ALLREDUCE,
//     SCAN, EXSCAN              bytes of in and out, which may be the same memory
//     GOMPI_REDUCE_SCATTER      in has sizes[i] bytes for each member i, bytes together; out is no part of it
//     GOMPI_GATHER              bytes of in, which may be this member's of outs
//     GOMPI_SCATTER             bytes of out, which may be this member's of ins
//     GOMPI_ALLGATHER           bytes of in, which may be this member's of outs; outs of sizes[i], or of bytes each
//     GOMPI_ALLTOALL            bytes of each of ins and outs, which may be the same memory
//     GOMPI_GATHERV, SCATTERV,
//     ALLTOALLV, ALLTOALLW
//     and of neighborhoods      to and from; see pairs.c
struct gompi_slots_call {
	int kind, root;
	const char *name; // of the MPI function, for reports
	uint64_t bytes;
	const char *in;
	char *out;
	struct gompi_blocks ins, outs;
	const uint64_t *sizes; // NULL if every block has the size in bytes
	struct gompi_reduction reduction;
	const struct gompi_pair_block *to, *from; // [sends], [receives]
	int sends, receives;
	bool in_place; // the data of to is in the memory that from will overwrite

	struct gompi_slots_differ differ; // result
};

// Results of gompi_slots_run, besides error classes.
enum {
	GOMPI_SLOTS_DONE = 0,
	GOMPI_SLOTS_DIFFER = -1, // see differ; members whose data matches have received it
	// nothing was moved and messages must carry the call; all members pass the same lengths
	GOMPI_SLOTS_MESSAGES = -2,
};

// Runs a call. Returns a result above, MPI_ERR_PROC_ABORTED if a process of the node failed, MPI_ERR_INTERN, or the
// error of a reduction.
int gompi_slots_run(struct gompi_slots *t, struct gompi_slots_call *c);

// Broadcasts root's b, for the library's own use. gompi_slots_tell_all is an allgather of mine into all. bytes is the
// size of each member's data, at most GOMPI_SLOT_SMALL. Both return what gompi_slots_run returns, and store a mismatch
// in *differ.
int gompi_slots_tell(struct gompi_slots *t, int root, void *b, uint64_t bytes, struct gompi_slots_differ *differ);
int gompi_slots_tell_all(struct gompi_slots *t, const void *mine, void *all, uint64_t bytes,
			 struct gompi_slots_differ *differ);

// Returns true if slots can carry a call of this kind among n members; messages carry the others.
static inline bool gompi_slots_fit(int kind, int n) {
	switch (kind) {
	case GOMPI_GATHER:
	case GOMPI_SCATTER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_REDUCE_SCATTER:
		return n <= GOMPI_SLOT_SMALL; // one byte for each
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return n <= GOMPI_PAIRS_MOST;
	}
	return true;
}

// Returns the text of an error class that gompi_slots_run returned.
const char *gompi_slots_text(int class);

// Returns the view of member me of n members on zeroed memory of n * sizeof(struct gompi_slots_member) bytes. Copies
// peers, the members' ranks in MPI_COMM_WORLD. Returns NULL if out of memory.
struct gompi_slots *gompi_slots_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Zeroes the operation counters in the shared memory. No member may use it any longer. Payload data stays.
void gompi_slots_clean(struct gompi_slots *t);
// Returns the view to a free list for another communicator. Its memory is never freed, so that a call on a freed
// communicator still reads valid memory.
void gompi_slots_close(struct gompi_slots *t);

#pragma GCC visibility pop
#endif
