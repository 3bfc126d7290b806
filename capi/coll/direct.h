// Direct reads of other members' memory in blocking collectives, and the exchange of the addresses to read. Only the
// files of this directory that implement the algorithms use this header.
#ifndef GOMPI_COLL_DIRECT_H
#define GOMPI_COLL_DIRECT_H

#include "coll/protocol.h"

#pragma GCC visibility push(hidden)

// Runs one shared-memory operation (shm_coll.h) in which each member publishes the argument `word` to all members. Sets
// *all_nonzero to false if any member published 0, else to true. gompi_shm_peer_word can read the words until this
// member begins its next operation. w and format are the signature of the call (protocol.h), also in the functions
// below.
int gompi_shm_exchange_word(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    uint64_t word, bool *all_nonzero);
// Returns the word that member i published in the operation with this number. Member i may change the word.
gompi_a64 *gompi_shm_word(struct gompi_shm_coll *t, int i, uint64_t number);
// Returns the word that member i published in the last operation.
uint64_t gompi_shm_peer_word(struct gompi_shm_coll *t, int i);

// The data that a member reads directly from the memory of other members, and its own data, which they read.
enum { GOMPI_FROM_ALL = -1, GOMPI_FROM_NONE = -2 };
struct gompi_direct_blocks {
	bool is_readable; // this member's data is contiguous and does not lie in its own receive area
	// The members have compared their calls before, so a mismatch in c does not stop the transfer.
	bool is_compared;
	const void *local;      // start of the data that other members read; NULL if they read none
	int from;               // the rank to read from, GOMPI_FROM_ALL or GOMPI_FROM_NONE
	uint64_t offset;        // offset of this member's block in another member's data
	struct gompi_blocks to; // destination of each member's data
	uint64_t bytes;         // bytes of each member's block, if sizes is NULL
	const uint64_t *sizes;  // [n]: bytes of each member's block, or NULL
};

// Blocks of more than this many bytes are read directly.
enum { GOMPI_DIRECT_ABOVE_BYTES = 16 << 10 };

// Compares the call with all members, as gompi_shm_compare_calls does, and moves the data if every member can read
// directly. Sets *done to true if the data has moved. If *done is false, the caller sends the data through the members'
// buffers.
int gompi_shm_read_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct gompi_direct_blocks *d,
			  uint64_t w, uint64_t format, bool *done);

// The part of a reduction that one member computes. The member reduces the bytes [offset, offset + bytes) of the
// operands of ranks [0, upto) into the buffer `to`.
struct gompi_direct_reduction {
	// If is_split is true, each member instead reduces one chunk for all members. Then the members that receive the
	// result read all chunks, or each member writes its chunk to the root.
	bool is_split;
	uint64_t offset, bytes;
	int upto;
	char *to;
	// If in_place is true, the result overwrites this member's operand, which other members still read. So an
	// allreduce is then split into chunks, and a scan uses the members' buffers instead of direct reads.
	bool in_place;
};

// A reduction reads its operands directly if each operand has more than GOMPI_REDUCE_DIRECT_ABOVE bytes. A split
// reduction does so if each chunk has more than GOMPI_CHUNK_DIRECT_ABOVE bytes. Measured with 4 members on 2 cores: a
// reduction of 256 KiB for one member takes 130 us with direct reads, and 340 us through the buffers. With 8 members
// and less than 32 KiB for each, both variants take the same time.
enum { GOMPI_REDUCE_DIRECT_ABOVE = 32 << 10, GOMPI_CHUNK_DIRECT_ABOVE = 16 << 10 };

// Bytes of one direct read of a reduction. The data is small enough to stay in the cache until it is reduced, and large
// enough to amortize the system call: the call costs 2 us, and the copy 10 us.
enum { GOMPI_DIRECT_READ_BYTES = 128 << 10 };

// The operands of a reduction in the members' memory.
struct gompi_remote_operands {
	const int32_t *peers; // process numbers of the members
	int me;
	const uint64_t *address; // address of each member's operand
	const char *local;       // this member's operand
	// Buffers of GOMPI_DIRECT_READ_BYTES bytes. The buffer `segment` holds data that was read. The buffer
	// pending_result holds a result that must not overwrite this member's operand yet.
	char *segment, *pending_result;
	bool read_failed;
	int failed_rank; // member whose memory could not be read, if read_failed is true
};

// Reduces the range [from, from + bytes) of the operands of ranks [0, upto) into the buffer `to`, in rank order. Stores
// the error class of the reduction, or 0, in *failed. Sets read_failed and stops after the first failed read. Returns
// how many bytes have been reduced before.
uint64_t gompi_reduce_remote(struct gompi_remote_operands *f, const struct gompi_reduction *r, uint64_t from,
			     uint64_t bytes, int upto, char *to, int *failed);

// Reads a range of the operand of rank i. Returns false and sets read_failed if the read has failed.
bool gompi_read_operand(struct gompi_remote_operands *f, int i, uint64_t from, char *to, uint64_t bytes);

// Runs a reduction with direct reads. The contract is that of gompi_shm_read_direct. Stores the error class of the
// reduction, or 0, in *failed.
int gompi_shm_reduce_direct(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			    const struct gompi_direct_reduction *d, int *failed, bool *done);

#pragma GCC visibility pop
#endif
