// Shared-memory collectives: blocking collectives among members of a communicator that are on one node. The data moves
// through shared memory, without messages.
//
// A call consists of one or more operations. All members make the same calls in the same order, so they give an
// operation the same number. In an operation a member may fill its buffer and may read the buffers of other members;
// then it publishes that it has finished the operation. A member's buffer (slot in the code) is a header, which holds a
// few bytes of data, and a body for more data. Each member has several headers and bodies. Operation number k uses
// header k % GOMPI_SHM_HEADERS and body k % GOMPI_SHM_BODIES. A member refills a header or body only after all members
// have finished the operation that used it last. So a member can be ahead of the slowest member by at most as many
// operations as it has headers or bodies.
//
// The lengths that a member passes determine the number of operations. Members that pass different lengths would count
// different numbers and hang, in this call or in a later one. Therefore a member whose arguments require more than one
// operation begins with an operation that only compares the calls. It continues only if the calls of all members agree.
// A member whose arguments require one operation runs exactly one, whatever the other members passed. So if the calls
// differ, every member counts exactly one operation. A member skips data of a call that does not match its own, and
// reports the mismatch when its call ends.
//
// The entry points in C (calls.c) use these functions for calls that are quick to check, and core/coll uses them for
// all other calls. The functions treat data as bytes.
#ifndef GOMPI_SHM_COLL_H
#define GOMPI_SHM_COLL_H

#include "base/wait.h"
#include "coll/reduction.h"
#include "datatype/buffer.h"

#pragma GCC visibility push(hidden)

// Kinds of collectives. In Go, core/coll.Kind has the same values.
enum {
	GOMPI_BARRIER,
	GOMPI_BCAST,
	GOMPI_REDUCE,
	GOMPI_ALLREDUCE,
	GOMPI_GATHER,
	GOMPI_GATHERV,
	GOMPI_SCATTER,
	GOMPI_SCATTERV,
	GOMPI_ALLGATHER,  // in struct gompi_coll_call also MPI_Allgatherv
	GOMPI_ALLGATHERV, // only in struct gompi_collective and in Go
	GOMPI_ALLTOALL,
	GOMPI_ALLTOALLV,
	GOMPI_ALLTOALLW,
	GOMPI_SCAN,
	GOMPI_EXSCAN,
	GOMPI_REDUCE_SCATTER,       // in struct gompi_coll_call also MPI_Reduce_scatter_block
	GOMPI_REDUCE_SCATTER_BLOCK, // only in struct gompi_collective and in Go
	GOMPI_NEIGHBOR_ALLGATHER,
	GOMPI_NEIGHBOR_ALLGATHERV,
	GOMPI_NEIGHBOR_ALLTOALL,
	GOMPI_NEIGHBOR_ALLTOALLV,
	GOMPI_NEIGHBOR_ALLTOALLW,
	GOMPI_IDUP, // MPI_Comm_idup, a nonblocking shared-memory collective
};

enum {
	GOMPI_SHM_INLINE_BYTES = 40,      // bytes of data in a header
	GOMPI_SHM_SMALL_BYTES = 2 << 10,  // bytes of a small body, in the communicator's control block
	GOMPI_SHM_LARGE_BYTES = 16 << 10, // bytes of a large body, which is allocated when first needed
	GOMPI_SHM_HEADERS = 16,           // number of headers of each member
	GOMPI_SHM_BODIES = 4,             // number of bodies of each member
	GOMPI_PAIRWISE_MAX_RANKS = 64,    // maximum members for blocks of individual lengths
};

// States of struct gompi_shm_mailbox. The state of a request includes the rank of the member that has the data
// (GOMPI_MAILBOX_REQUESTED + rank). If the rank were in a separate word, a member could read the state of one request
// and the rank of the next.
enum { GOMPI_MAILBOX_IDLE, GOMPI_MAILBOX_FILLED, GOMPI_MAILBOX_REQUESTED /* plus the rank */ };

struct gompi_shm_header {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 number; // operation whose data the buffer holds; written last
	gompi_a64 signature;                         // collective, root and bytes (gompi_signature_word)
	// byte count and element size (gompi_format_word); they determine how many operations the call takes and which
	// buffers it uses
	gompi_a64 format;
	char data[GOMPI_SHM_INLINE_BYTES];
};

// Mailbox of a member that cannot read another member's memory (pairwise.c). The mailbox's owner requests a segment of
// a block here, and the member that has the block copies the segment into data. There is one request at a time.
struct gompi_shm_mailbox {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 state; // GOMPI_MAILBOX_; written last
	gompi_a64 block, offset, bytes;             // the requested block (remote_block.entry in pairwise.c) and range
	_Alignas(GOMPI_CACHE_LINE) char data[GOMPI_SHM_SMALL_BYTES];
};

// The memory of one member in the communicator's control block. The other members only read this memory, except that
// they also write the field `mail`.
struct gompi_shm_member {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 finished; // number of the last operation that this member has finished
	// Members that wait for this member sleep on this word. It has a cache line of its own: in a line with words
	// that other members poll, each check for sleepers would miss the cache.
	_Alignas(GOMPI_CACHE_LINE) struct gompi_waitword wait;
	struct gompi_shm_header header[GOMPI_SHM_HEADERS];
	_Alignas(GOMPI_CACHE_LINE) char body[GOMPI_SHM_BODIES][GOMPI_SHM_SMALL_BYTES];
	struct gompi_shm_mailbox mail;
};

// A member's share of the memory that a communicator allocates at the first call that needs it.
struct gompi_shm_large {
	_Alignas(GOMPI_CACHE_LINE) char body[GOMPI_SHM_BODIES][GOMPI_SHM_LARGE_BYTES];
};

// One member's private state (its view) for a communicator's shared-memory collectives. Only one thread at a time uses
// a view, because the standard forbids concurrent collective calls on one communicator.
struct gompi_shm_coll {
	struct gompi_shm_member *member; // [n]
	struct gompi_shm_large *large;   // [n]; NULL if not allocated yet
	bool large_failed;               // the allocation of `large` has failed (all members agree on this)
	bool no_direct;                  // some member cannot read another's memory; all members agree on this
	int n, me;
	int32_t *peers;        // process numbers of the members
	uint64_t seq;          // number of the current operation
	uint64_t acked;        // all members are known to have finished all operations up to this number
	uint64_t object;       // handle of the communicator, for reports; 0 if the communicator has none
	uintptr_t owner;       // argument of gompi_go_callbacks.grow_shm
	const char *call_name; // name of the current call
	// Next view in the free list.
	struct gompi_shm_coll *next;
};

// The contiguous blocks of all members. Block i is at list[i] or, if list is NULL, at base + i * stride.
struct gompi_blocks {
	char *base;
	uint64_t stride;
	const uintptr_t *list;
};

static inline char *gompi_block(const struct gompi_blocks *b, int i) {
	return b->list != NULL ? (char *)b->list[i] : b->base + (uint64_t)i * b->stride;
}

// A block that this member sends to, or receives from, one member.
struct gompi_pair_block {
	int32_t member; // -1 if there is no block
	struct gompi_buffer buf;
};

// Two calls that differ: `peer` is the signature of the call of member `rank`, and `local` is the signature of this
// member's call. The field `rank` is -1 if there is no mismatch.
struct gompi_coll_mismatch {
	int32_t rank;
	uint64_t peer_signature, peer_format, local_signature, local_format;
};

// The call of one member, with data as bytes. gompi_shm_run does not read arguments that are not significant at this
// member. Each kind uses the following fields; N is the field `bytes`.
//
//     GOMPI_BCAST               out: buffer of N bytes
//     GOMPI_REDUCE, ALLREDUCE,
//     SCAN, EXSCAN              in, out: N bytes each; may be the same memory
//     GOMPI_REDUCE_SCATTER      in: a block of sizes[i] bytes for each member i, N bytes in total; out: outside of in
//     GOMPI_GATHER              in: N bytes, may be this member's block of outs; outs: blocks of N bytes
//     GOMPI_SCATTER             out: N bytes, may be this member's block of ins; ins: blocks of N bytes
//     GOMPI_ALLGATHER           in: N bytes, may be this member's block of outs; outs: blocks of sizes[i] or N bytes
//     GOMPI_ALLTOALL            ins, outs: blocks of N bytes; may be the same memory
//     GOMPI_GATHERV, SCATTERV,
//     ALLTOALLV, ALLTOALLW
//     and of neighborhoods      to, from; see pairwise.c
struct gompi_coll_call {
	int kind, root;
	const char *name; // name of the MPI function, for reports
	uint64_t bytes;
	const char *in;
	char *out;
	struct gompi_blocks ins, outs;
	const uint64_t *sizes; // size of each block; NULL if every block has `bytes` bytes
	struct gompi_reduction reduction;
	const struct gompi_pair_block *to, *from; // [send_count], [recv_count]
	int send_count, recv_count;
	bool in_place; // MPI_IN_PLACE: received data overwrites the blocks `to`, so they are copied before

	struct gompi_coll_mismatch mismatch; // set by gompi_shm_run: the first difference that this member has found
};

// Results of gompi_shm_run, besides error classes.
enum {
	GOMPI_COLL_DONE = 0,
	GOMPI_COLL_MISMATCH = -1, // a call differs (field mismatch); data from members whose calls match is complete
	// no data has moved, and the caller must run the call with messages; all members passed the same lengths
	GOMPI_COLL_USE_MESSAGES = -2,
};

// Runs a call; blocks. Returns one of the results above or an error class: MPI_ERR_PROC_ABORTED if a process of the
// node has failed, MPI_ERR_INTERN if shared memory holds an unexpected value, MPI_ERR_NO_MEM, or the error of the
// reduction.
int gompi_shm_run(struct gompi_shm_coll *t, struct gompi_coll_call *c);

// Broadcasts the root's buffer b into the buffer b of all other members. gompi_shm_allgather_internal gathers the
// buffer `mine` of each member into the buffer `all` of every member. Both functions are for the library's own use. The
// argument `bytes` is the size of one member's data, at most GOMPI_SHM_SMALL_BYTES. Both return what gompi_shm_run
// returns, and store a mismatch in *mismatch.
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
	case GOMPI_ALLGATHERV:
	case GOMPI_ALLTOALL:
	case GOMPI_REDUCE_SCATTER:
	case GOMPI_REDUCE_SCATTER_BLOCK:
		return n <= GOMPI_SHM_SMALL_BYTES; // a body has at least one byte for each member
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return n <= GOMPI_PAIRWISE_MAX_RANKS;
	}
	return true;
}

// Returns the text of an error class that gompi_shm_run returned.
const char *gompi_shm_error_text(int class);

// Creates the view of rank `me` among n members. The argument `memory` points to n zeroed elements of struct
// gompi_shm_member, which the members share. Copies `peers`, the members' process numbers. Returns NULL if out of
// memory.
struct gompi_shm_coll *gompi_shm_coll_open(void *memory, int n, int me, const int32_t *peers, uintptr_t owner);
// Zeroes the operation numbers in the shared memory, but not the data. The caller ensures that no member uses the
// memory any longer.
void gompi_shm_coll_reset(struct gompi_shm_coll *t);
// Returns the view to a free list for another communicator. The view's memory is never freed, so that a call on a freed
// communicator still reads valid memory.
void gompi_shm_coll_close(struct gompi_shm_coll *t);

#pragma GCC visibility pop
#endif
