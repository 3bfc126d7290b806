// The state of a nonblocking or persistent collective at one member: its arguments as bytes (nbc_arguments.c), its data
// in shared memory (nbc_data.c) and its progress (nbc_op.c).
#ifndef GOMPI_NBC_OP_H
#define GOMPI_NBC_OP_H

#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "coll/nbc.h"
#include "coll/entry.h"
#include "coll/idup.h"
#include "datatype/buffer.h"

struct gompi_request;

// A contiguous range of bytes. The field `at` is NULL if received bytes are discarded.
struct gompi_span {
	char *at;
	uint64_t bytes;
};

// Memory for the arguments of a blocking call: `buffer`, then blocks of malloc.
struct gompi_call_memory {
	struct gompi_call_block *blocks; // list of the blocks; NULL if there are none
	size_t used;                     // bytes of `buffer`
	_Alignas(16) char buffer[8 << 10];
};

// A copy between the application's memory and a collective's private memory.
struct gompi_nbc_copy {
	struct gompi_buffer user;
	char *packed;
	// If not 0, packed holds this many elements with the gaps of their type, and the copy skips the gaps.
	int64_t elements;
	bool owns_packed; // the copy frees packed
};

// One exchange in shared memory. A collective has one or two phases.
struct gompi_nbc_phase {
	int kind;                // collective whose algorithm this phase uses
	struct gompi_span in;    // this member's data, if all readers get the same data
	struct gompi_span *ins;  // [n]: this member's data for each member, if they get different data
	struct gompi_span out;   // buffer for data from one member, or for a result
	struct gompi_span *outs; // [n]: buffers for data from each member, if several send data
};

// Fields of an MPI_Comm_idup.
struct gompi_idup {
	uintptr_t number; // identifies the idup in Go
	char draft[GOMPI_IDUP_DRAFT_BYTES];
	int32_t class;        // this member's error class
	int32_t peer_class[]; // [n]: error classes of the other members
};

struct gompi_nbc_op {
	struct gompi_nbc *nbc;
	struct gompi_nbc_op *next;
	struct gompi_request *request;
	const char *name;                 // name of the MPI function
	int kind, root;                   // kind and root of the MPI call
	uint64_t bytes, longest_bytes;    // byte counts of the call signature, which members compare
	struct gompi_reduction reduction; // `size` is 1 if the collective reduces nothing, for format words
	bool calls_user_op;               // the reduction calls a user-defined function
	int phases;
	struct gompi_nbc_phase phase[2];

	// Copies between the application's memory and private memory, at the start and at the end.
	struct gompi_nbc_copy *copies_in, *copies_out;
	int copies_in_count, copies_out_count;
	char *scratch;           // chunk that this member reduces, if it gets no result
	struct gompi_idup *idup; // NULL unless this is an MPI_Comm_idup

	// The progress of the collective.
	enum { NBC_QUEUED, NBC_RUNNING, NBC_COMPLETE } state;
	int phase_index;
	uint64_t number;              // number of the current phase: 2n or 2n + 1 for collective n
	uint32_t segments_written;    // segments that this member has written, or NBC_DIRECT
	uint32_t segments_read;       // segments that have been read from all members
	uint32_t *peer_segments_read; // [n]: segments read from each member; NBC_READ_DONE after the last one
	bool read_done;               // this member has read all data of the phase
	bool is_awaited;              // another member may wait until this member has read its data
	// A header that has not been published yet, and the number that it will have. progress_nbc_op polls this header
	// without the lock. missing_header is NULL if progress needs the lock.
	struct gompi_nbc_header *_Atomic missing_header;
	gompi_a64 missing_number;
	struct gompi_coll_mismatch mismatch; // rank is -1 without a mismatch
	int reduce_error;                    // error class of the reduction

	char zeroed_end[0];                       // all fields before this one are initially 0
	struct gompi_error_status argument_error; // error in this member's own arguments, reported at the end
	struct gompi_error_status error;          // any other error
};

#pragma GCC visibility push(hidden)

// Makes a collective from the arguments of a call on a communicator with nonblocking shared-memory collectives. Returns
// NULL if Go must handle the call: if the arguments are wrong, if memory is exhausted, or, with *use_messages set, if
// all members run the call with messages. If `memory` is not NULL, only converts the arguments of a blocking call. The
// result is then valid until the call ends, and gompi_call_memory_free frees it.
struct gompi_nbc_op *gompi_nbc_op_new(const struct gompi_comm *c, const struct gompi_collective *a,
				      struct gompi_call_memory *memory, bool *use_messages);
void gompi_nbc_op_free(struct gompi_nbc_op *s);

// Allocates bytes that gompi_call_memory_free frees. Returns NULL if out of memory.
void *gompi_call_alloc(struct gompi_call_memory *m, size_t bytes);
void gompi_call_memory_free(struct gompi_call_memory *m);

// Makes a request for s, stores it, and starts s unless the request is persistent. Returns false if out of memory or if
// too many requests are live.
bool gompi_nbc_op_issue(struct gompi_nbc_op *s, const struct gompi_collective *a, bool persistent,
			MPI_Request *request);

// Runs the copies into private memory at the start. gompi_nbc_op_unpack runs the copies out of private memory at the
// end.
void gompi_nbc_op_pack(struct gompi_nbc_op *s);
void gompi_nbc_op_unpack(struct gompi_nbc_op *s);

// Completes s with an error class, because a process has failed or the communicator is revoked. Waits for the lock of
// the view.
void gompi_nbc_abandon(struct gompi_nbc_op *s, int class);

// Advances s as far as possible without blocking. Returns true if this call completed it.
bool gompi_nbc_op_advance(struct gompi_nbc_op *s);
// Finds the members that s waits for and that have not started this collective. Sets their bits in missing, for ranks
// below 64 * words. Returns the number of these members, or -1 if it is unknown.
int gompi_nbc_op_missing_ranks(const struct gompi_nbc_op *s, uint64_t *missing, int words);
// Completes the request of the operation s. Precondition: s has completed and is on no list. The caller holds no lock,
// and must not use s afterwards, because s may have been freed.
void gompi_nbc_op_complete(struct gompi_nbc_op *s);

// Segments of the current phase (nbc_data.c).

// gompi_nbc_reads_from returns true if this member reads data of member i. gompi_nbc_is_read_by returns true if member
// i reads data of this member.
bool gompi_nbc_reads_from(const struct gompi_nbc_op *s, int i);
bool gompi_nbc_is_read_by(const struct gompi_nbc_op *s, int i);
// Returns the space that this member's data needs.
enum gompi_nbc_space gompi_nbc_space_of(const struct gompi_nbc_op *s);
// Returns true if this member should notify the progress threads of other members: the data is large, and the node has
// more cores than processes.
bool gompi_nbc_wakes_progress(const struct gompi_nbc_op *s);
// Returns the number of segments of this member's data.
uint32_t gompi_nbc_segments(const struct gompi_nbc_op *s);
// Writes segment k to the header or body; for NBC_DIRECT, writes the address of the data.
void gompi_nbc_write_segment(struct gompi_nbc_op *s, uint32_t k);
// Returns the first word of the call signature, for the comparison with member peer. gompi_nbc_format returns the
// second.
uint64_t gompi_nbc_signature(const struct gompi_nbc_op *s, int peer);
uint64_t gompi_nbc_format(const struct gompi_nbc_op *s);
// Reads the data that is available: the next segment of all members, or all data of members that can be read directly.
// Returns true after the last read.
bool gompi_nbc_read_segments(struct gompi_nbc_op *s);

#pragma GCC visibility pop
#endif
