// The state of a nonblocking or persistent collective at one member: its arguments as bytes (operands.c), its data on
// the board (pieces.c) and its progress (started.c).
#ifndef GOMPI_STARTED_H
#define GOMPI_STARTED_H

#include "base/up.h"
#include "base/verdict.h"
#include "coll/board.h"
#include "coll/entry.h"
#include "coll/idup.h"
#include "datatype/buffer.h"

struct gompi_request;

// A contiguous range of bytes. at is NULL if received bytes are discarded.
struct gompi_piece {
	char *at;
	uint64_t bytes;
};

// A copy between the application's memory and a collective's private memory.
struct gompi_board_copy {
	struct gompi_buffer there;
	char *here;
	// Not 0: here holds this many elements in the layout of the type; the copy skips the gaps inside elements.
	int64_t elements;
	bool owned; // the transfer frees here
};

// One exchange over the board. A collective has one or two such parts.
struct gompi_part_of_call {
	int kind;                 // collective whose algorithm this part uses
	struct gompi_piece in;    // data of this member for all readers, or
	struct gompi_piece *ins;  // [n]: for each member
	struct gompi_piece out;   // buffer for data from one member or for a result, or
	struct gompi_piece *outs; // [n]: for data from each member
};

// Fields of an MPI_Comm_idup.
struct gompi_idup {
	uintptr_t number; // by which Go identifies it
	char told[GOMPI_IDUP_TOLD];
	int32_t class;   // error class of this member
	int32_t worst[]; // error classes of the others
};

struct gompi_started {
	struct gompi_board *board;
	struct gompi_started *next;
	struct gompi_request *request;
	const char *name;                 // of the MPI function
	int kind, root;                   // of the MPI call
	uint64_t bytes, plan;             // call signature, which members compare
	struct gompi_reduction reduction; // size is 1 without a reduction
	bool asks;                        // the reduction calls a user-defined function
	int parts;                        // number of parts
	struct gompi_part_of_call part[2];

	// Copies between the application's memory and private memory, at the start and at the end.
	struct gompi_board_copy *before, *after;
	int befores, afters;
	char *spare;             // memory for a result that is only forwarded
	struct gompi_idup *idup; // NULL unless this is an MPI_Comm_idup

	// Progress.
	enum { STARTED_QUEUED, STARTED_RUNNING, STARTED_OVER } state;
	int now;         // index of the current part
	uint64_t number; // of the current part: 2n, or 2n + 1, of collective n
	uint32_t wrote;  // segments of this member's data that it has written, or BOARD_DIRECT
	uint32_t piece;  // segments that have been read from all members
	uint32_t *taken; // [n]: segments read from each member; BOARD_DONE after the last one
	bool read;       // all has been read
	bool awaited;    // a member whose data this one reads may wait for that
	// A head that has not been published yet, and the number that it will have: checked without the lock. missing
	// is NULL if the check needs the lock.
	struct gompi_board_head *_Atomic missing;
	gompi_a64 missing_number;
	struct gompi_slots_differ differ; // rank is -1 without a mismatch
	int failed;                       // error class of the reduction

	char end_of_plain[0];       // all fields before are initially 0
	struct gompi_verdict wrong; // error in this member's own arguments, reported at the end
	struct gompi_verdict why;   // any other error
};

#pragma GCC visibility push(hidden)

// Makes a collective from the arguments of a call on a communicator with a board. Returns NULL if Go must handle the
// call: if the arguments are wrong, if memory is exhausted, or, with *other set, if all members run the call without
// the board.
struct gompi_started *gompi_started_make(const struct gompi_comm *c, const struct gompi_collective *a, bool *other);
void gompi_started_drop(struct gompi_started *s);

// Makes a request for s, stores it, and starts s unless the request is persistent. Returns false if out of memory or if
// too many requests are live.
bool gompi_started_issue(struct gompi_started *s, const struct gompi_collective *a, bool persistent,
			 MPI_Request *request);

// Runs the copies at the start and at the end.
void gompi_started_load(struct gompi_started *s);
void gompi_started_store(struct gompi_started *s);

// Advances s as far as possible without blocking. Returns true if this call completed it.
bool gompi_started_advance(struct gompi_started *s);
// Finds the members that s waits for and that have not started it. Sets a bit for each of the first 64 * words ranks.
// Returns their number, or -1 if it is unknown.
int gompi_started_missing(const struct gompi_started *s, uint64_t *missing, int words);
// Completes the request of s, which has completed and is on no list. The caller holds no lock. s may be freed when this
// returns.
void gompi_started_over(struct gompi_started *s);

// Segments of the current part (pieces.c).

// gompi_reads: this member reads data of member i. gompi_is_read_by: member i reads data of this member.
bool gompi_reads(const struct gompi_started *s, int i);
bool gompi_is_read_by(const struct gompi_started *s, int i);
// Returns the space that this member's data takes.
enum gompi_board_space gompi_takes_space(const struct gompi_started *s);
// Returns true if there is enough data to notify progress threads while the application computes.
bool gompi_is_much(const struct gompi_started *s);
// Returns the number of segments of this member's data.
uint32_t gompi_pieces(const struct gompi_started *s);
// Writes segment k to the head or body; for BOARD_DIRECT, writes the address of the data.
void gompi_write_piece(struct gompi_started *s, uint32_t k);
// Returns the first word of the call signature, for the comparison with member of. gompi_part_plan returns the second.
uint64_t gompi_part_what(const struct gompi_started *s, int of);
uint64_t gompi_part_plan(const struct gompi_started *s);
// Reads what is available: the next segment of all members, or all data of members that can be read directly. Returns
// true after the last read.
bool gompi_take_pieces(struct gompi_started *s);

#pragma GCC visibility pop
#endif
