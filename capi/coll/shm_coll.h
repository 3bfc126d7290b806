// Shared-memory collectives: blocking collectives among the members of a communicator on one node, in shared memory and
// without messages.
//
// A call consists of one or more operations. All members number them alike, because all make the same calls in the same
// order. In an operation a member may fill its buffer and may read the buffers of other members; then it publishes that
// it has finished. A member's buffer (slot in the code) is a head, which holds a few bytes of data itself, and a body
// for more data. Heads and bodies are used cyclically by the number of the operation. A member refills one only after
// all members have finished the operation that used it before. So a member may be a few operations ahead of others.
//
// Members that pass different lengths would count operations differently and hang, now or in a later call. Therefore a
// call that takes more than one operation, according to the arguments of any member, begins with an operation that
// compares the calls, and continues only if they agree. A call of one operation ends with it, whatever the other
// members passed. Data of calls that do not match is skipped, and the mismatch is reported at the end.
//
// Both the entry points in C (calls.c), for calls that are quick to check, and core/coll, for all other calls, run
// calls here, with the data as bytes.
#ifndef GOMPI_SHM_COLL_H
#define GOMPI_SHM_COLL_H

#include "base/wait.h"
#include "coll/reduction.h"
#include "datatype/buffer.h"

#pragma GCC visibility push(hidden)

// The kinds of collectives, in Go core/coll.Kind.
enum {
	GOMPI_BARRIER,
	GOMPI_BCAST,
	GOMPI_REDUCE,
	GOMPI_ALLREDUCE,
	GOMPI_GATHER,
	GOMPI_GATHERV,
	GOMPI_SCATTER,
	GOMPI_SCATTERV,
	GOMPI_ALLGATHER,  // and MPI_Allgatherv
	GOMPI_ALLGATHERV, // number in Go; runs as GOMPI_ALLGATHER
	GOMPI_ALLTOALL,
	GOMPI_ALLTOALLV,
	GOMPI_ALLTOALLW,
	GOMPI_SCAN,
	GOMPI_EXSCAN,
	GOMPI_REDUCE_SCATTER,       // and MPI_Reduce_scatter_block
	GOMPI_REDUCE_SCATTER_BLOCK, // number in Go; runs as GOMPI_REDUCE_SCATTER
	GOMPI_NEIGHBOR_ALLGATHER,
	GOMPI_NEIGHBOR_ALLGATHERV,
	GOMPI_NEIGHBOR_ALLTOALL,
	GOMPI_NEIGHBOR_ALLTOALLV,
	GOMPI_NEIGHBOR_ALLTOALLW,
	GOMPI_IDUP, // MPI_Comm_idup, a nonblocking shared-memory collective
};

enum {
	GOMPI_SHM_INLINE_BYTES = 40,      // bytes of data in a head
	GOMPI_SHM_SMALL_BYTES = 2 << 10,  // bytes of a body in the control block
	GOMPI_SHM_LARGE_BYTES = 16 << 10, // bytes of a body in the memory that a communicator allocates later
	GOMPI_SHM_HEADS = 16,             // heads of each member
	GOMPI_SHM_BODIES = 4,             // bodies of each member
	GOMPI_PAIRWISE_MAX_RANKS = 64,    // members of a call in which each has a block for each other one
};

// States of struct gompi_shm_mailbox. The state includes the rank of the member asked (GOMPI_MAILBOX_REQUESTED + rank).
// With the rank in a word of its own, a member could read the state of one request and the rank of the next.
enum { GOMPI_MAILBOX_IDLE, GOMPI_MAILBOX_FILLED, GOMPI_MAILBOX_REQUESTED /* plus the rank of the member asked */ };

struct gompi_shm_head {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 number; // of the operation that the buffer is filled for; written last
	gompi_a64 signature;                         // collective, root and bytes (gompi_signature_word)
	// decides how many operations the call takes and in which bodies (gompi_format_word)
	gompi_a64 format;
	char data[GOMPI_SHM_INLINE_BYTES];
};

// Request box of a member that cannot read another member's memory (pairwise.c). The owner asks here for a segment, and
// the member that has the data copies it here. One request at a time.
struct gompi_shm_mailbox {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 state; // GOMPI_MAILBOX_; written last
	gompi_a64 block, offset, bytes;             // which block, and which range of it
	_Alignas(GOMPI_CACHE_LINE) char data[GOMPI_SHM_SMALL_BYTES];
};

// The memory of one member in the control block of the communicator. The member writes it, except mail; the other
// members read it.
struct gompi_shm_member {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 finished; // number of the last operation that this member has finished
	// Members that wait for this member sleep here. It has a cache line of its own: in the line of words that other
	// members poll, each poll of it would miss the cache.
	_Alignas(GOMPI_CACHE_LINE) struct gompi_waitword wait;
	struct gompi_shm_head head[GOMPI_SHM_HEADS];
	_Alignas(GOMPI_CACHE_LINE) char body[GOMPI_SHM_BODIES][GOMPI_SHM_SMALL_BYTES];
	struct gompi_shm_mailbox mail;
};

// A member's share of the memory that a communicator allocates at the first call that needs it.
struct gompi_shm_large {
	_Alignas(GOMPI_CACHE_LINE) char body[GOMPI_SHM_BODIES][GOMPI_SHM_LARGE_BYTES];
};

// One member's private view. One thread at a time uses it, because the standard requires that of collective calls on
// one communicator.
struct gompi_shm_coll {
	struct gompi_shm_member *member; // [n]
	struct gompi_shm_large *large;   // [n]; NULL if not allocated yet
	bool large_failed;               // allocation failed, at all members
	bool no_direct;                  // some member cannot read another's memory; all members agree on this
	int n, me;
	int32_t *peers;        // ranks in MPI_COMM_WORLD
	uint64_t seq;          // number of the current operation
	uint64_t acked;        // all members are known to have finished the operations up to this one
	uint64_t object;       // handle of the communicator, for reports; 0 if it has none
	uintptr_t owner;       // argument of gompi_go_callbacks.grow_shm
	const char *call_name; // name of the current call
	// Next view in the free list.
	struct gompi_shm_coll *next;
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
struct gompi_coll_mismatch {
	int32_t rank;
	uint64_t peer_signature, peer_format, local_signature, local_format;
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
//     and of neighborhoods      to and from; see pairwise.c
struct gompi_coll_call {
	int kind, root;
	const char *name; // of the MPI function, for reports
	uint64_t bytes;
	const char *in;
	char *out;
	struct gompi_blocks ins, outs;
	const uint64_t *sizes; // NULL if every block has the size in bytes
	struct gompi_reduction reduction;
	const struct gompi_pair_block *to, *from; // [sends], [receives]
	int send_count, recv_count;
	bool in_place; // the data of to is in the memory that from will overwrite

	struct gompi_coll_mismatch mismatch; // result
};

// Results of gompi_shm_run, besides error classes.
enum {
	GOMPI_COLL_DONE = 0,
	GOMPI_COLL_MISMATCH = -1, // see mismatch; members whose data matches have received it
	// nothing was moved and messages must carry the call; all members pass the same lengths
	GOMPI_COLL_USE_MESSAGES = -2,
};

// Runs a call. Returns a result above, MPI_ERR_PROC_ABORTED if a process of the node failed, MPI_ERR_INTERN, or the
// error of a reduction.
int gompi_shm_run(struct gompi_shm_coll *t, struct gompi_coll_call *c);

// Broadcasts root's b, for the library's own use. gompi_shm_allgather_internal is an allgather of mine into all. bytes
// is the size of each member's data, at most GOMPI_SHM_SMALL_BYTES. Both return what gompi_shm_run returns, and store a
// mismatch in *mismatch.
int gompi_shm_bcast_internal(struct gompi_shm_coll *t, int root, void *b, uint64_t bytes,
			     struct gompi_coll_mismatch *mismatch);
int gompi_shm_allgather_internal(struct gompi_shm_coll *t, const void *mine, void *all, uint64_t bytes,
				 struct gompi_coll_mismatch *mismatch);

// Returns true if a call of this kind among n members can run in shared memory. All other calls use messages.
static inline bool gompi_shm_supports(int kind, int n) {
	switch (kind) {
	case GOMPI_GATHER:
	case GOMPI_SCATTER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
	case GOMPI_REDUCE_SCATTER:
		return n <= GOMPI_SHM_SMALL_BYTES; // one byte for each
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return n <= GOMPI_PAIRWISE_MAX_RANKS;
	}
	return true;
}

// Returns the text of an error class that gompi_shm_run returned.
const char *gompi_shm_error_text(int class);

// Returns the view of member me of n members on zeroed memory of n * sizeof(struct gompi_shm_member) bytes. Copies
// peers, the members' ranks in MPI_COMM_WORLD. Returns NULL if out of memory.
struct gompi_shm_coll *gompi_shm_coll_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Zeroes the operation counters in the shared memory. No member may use it any longer. Payload data stays.
void gompi_shm_coll_reset(struct gompi_shm_coll *t);
// Returns the view to a free list for another communicator. Its memory is never freed, so that a call on a freed
// communicator still reads valid memory.
void gompi_shm_coll_close(struct gompi_shm_coll *t);

#pragma GCC visibility pop
#endif
