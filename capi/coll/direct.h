// Direct reads of other members' memory in blocking collectives, and the exchange of addresses for them. For the files
// of this directory that implement the algorithms.
#ifndef GOMPI_COLL_DIRECT_H
#define GOMPI_COLL_DIRECT_H

#include "coll/protocol.h"

#pragma GCC visibility push(hidden)

// Runs an operation in which each member publishes a word to all members. Sets *each to true if no member published 0.
// The words stay readable until the next operation is published.
int gompi_shm_exchange_word(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    uint64_t word, bool *all_nonzero);
// Returns the word that member i published in the last operation.
uint64_t gompi_shm_peer_word(struct gompi_shm_coll *t, int i);

// The data that a member reads directly from the memory of other members.
enum { GOMPI_FROM_ALL = -1, GOMPI_FROM_NONE = -2 };
struct gompi_direct_blocks {
	bool is_readable;       // this member's data is contiguous and does not lie in its own receive area
	bool is_compared;       // the members have already compared the call
	const void *local;      // start of the data that others read; NULL if they read no data
	int from;               // the rank to read from, GOMPI_FROM_ALL or GOMPI_FROM_NONE
	uint64_t offset;        // offset in that member's data
	struct gompi_blocks to; // destination of each member's data
	uint64_t bytes;         // bytes of each member's block, unless
	const uint64_t *sizes;  // sizes gives one size for each member
};

// Blocks of more than this many bytes are read directly.
enum { GOMPI_DIRECT_ABOVE_BYTES = 16 << 10 };

// Compares the call with all members, as gompi_shm_compare_calls does, and moves the data if every member can read
// directly. Sets *done if the data has moved; otherwise the caller sends it through the members' buffers.
int gompi_shm_read_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct gompi_direct_blocks *d,
			  uint64_t w, uint64_t format, bool *done);

// The reduction that a member computes for itself: bytes of the operands of ranks [0, upto), starting at offset from.
struct gompi_direct_reduction {
	// Instead, each member reduces one chunk for all members; members that get a result of the call then read all
	// chunks.
	bool is_split;
	uint64_t offset, bytes;
	int upto;
	char *to;
	// The result overwrites this member's operand. Then the data goes through the members' buffers or, in an
	// allreduce, is split into chunks.
	bool in_place;
};

// Reductions of more bytes, or with more bytes in each member's chunk, read their operands directly. Measured: with 4
// members on 2 cores, 256 KiB for one of them take 130 us directly and 340 us through the buffers. With 8 members there
// is no difference below 32 KiB each.
enum { GOMPI_REDUCE_DIRECT_ABOVE = 32 << 10, GOMPI_CHUNK_DIRECT_ABOVE = 16 << 10 };

// Runs a reduction with the contract of gompi_shm_read_direct. Stores the result of the reduction function in *failed.
int gompi_shm_reduce_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    const struct gompi_direct_reduction *d, int *failed, bool *done);

#pragma GCC visibility pop
#endif
