// A collective that has been started, as one member sees it: its arguments as bytes (operands.c), what goes to the
// board and comes from there (pieces.c), and how far it is (started.c).
#ifndef GOMPI_STARTED_H
#define GOMPI_STARTED_H

#include "base/up.h"
#include "base/verdict.h"
#include "coll/board.h"
#include "coll/entry.h"
#include "coll/idup.h"
#include "datatype/buffer.h"

struct gompi_request;

// Bytes that lie together. at is NULL if what comes is not kept.
struct gompi_piece {
	char *at;
	uint64_t bytes;
};

// A copy between the application's memory and a collective's own.
struct gompi_board_copy {
	struct gompi_buffer there;
	char *here;
	int64_t elements; // not 0: so many lie here as in memory, and go there without what is between their parts
	bool owned;       // here is this transfer's
};

// What goes over the board at once: a collective has one or two such parts.
struct gompi_part_of_call {
	int kind;                 // as if it were that collective
	struct gompi_piece in;    // what this member gives to all who read it, or
	struct gompi_piece *ins;  // [n], to each
	struct gompi_piece out;   // what it gets from one, or reduces, or
	struct gompi_piece *outs; // [n], from each
};

// What an MPI_Comm_idup has of its own.
struct gompi_idup {
	uintptr_t number; // that Go knows it by
	char told[GOMPI_IDUP_TOLD];
	int32_t class;   // of error, at this member
	int32_t worst[]; // at the others
};

struct gompi_started {
	struct gompi_board *board;
	struct gompi_started *next;
	struct gompi_request *request;
	const char *name;                 // of the function
	int kind, root;                   // as it was called
	uint64_t bytes, plan;             // what members compare
	struct gompi_reduction reduction; // size 1 where there is none
	bool asks;                        // that calls a function of the application
	int parts;                        // on the board
	struct gompi_part_of_call part[2];

	// Copies between the application's memory and this one's own, at the start and at the end.
	struct gompi_board_copy *before, *after;
	int befores, afters;
	char *spare;             // memory for a result that is only passed on
	struct gompi_idup *idup; // NULL: it is of another kind

	// How far it is.
	enum { STARTED_QUEUED, STARTED_RUNNING, STARTED_OVER } state;
	int now;         // which part
	uint64_t number; // of that: twice the collective's, or one more
	uint32_t wrote;  // pieces of this member's data, or BOARD_DIRECT
	uint32_t piece;  // pieces that have been read of all
	uint32_t *taken; // [n]: of each; BOARD_DONE: there will be no more
	bool read;       // all
	bool awaited;    // by others, that this member reads
	// A head that is not there yet, and the number that it will have, for a look without the lock; NULL: look
	// closer.
	struct gompi_board_head *_Atomic missing;
	gompi_a64 missing_number;
	struct gompi_slots_differ differ; // rank -1: none does
	int failed;                       // error class of the reduction

	char end_of_plain[0];       // all before is 0 at first
	struct gompi_verdict wrong; // with this member's own arguments, which is told at the end
	struct gompi_verdict why;   // what else went wrong
};

#pragma GCC visibility push(hidden)

// Makes what a call on a communicator with a board asks for. NULL: Go is to look at it, since it is wrong, or there is
// no memory, or, as *other says, it is done without the board, at all members.
struct gompi_started *gompi_started_make(const struct gompi_comm *c, const struct gompi_collective *a, bool *other);
void gompi_started_drop(struct gompi_started *s);

// Makes a request of it, stores that, and begins it unless it is persistent. false: there is no memory, or too many are
// live.
bool gompi_started_issue(struct gompi_started *s, const struct gompi_collective *a, bool persistent,
			 MPI_Request *request);

// Copies what is needed at the start, and at the end.
void gompi_started_load(struct gompi_started *s);
void gompi_started_store(struct gompi_started *s);

// Advances it as far as that goes. Returns true if it is over now.
bool gompi_started_advance(struct gompi_started *s);
// Finds the members that this one needs and that have not started it: sets a bit for each of the first 64 * words, and
// returns how many there are, -1 if that is not known.
int gompi_started_missing(const struct gompi_started *s, uint64_t *missing, int words);
// It is over and on no list: completes the request. Without any lock; it may be no more afterwards.
void gompi_started_over(struct gompi_started *s);

// Pieces of the part at hand (pieces.c).

// Returns true if this member reads what member i gives; whether member i reads what this one gives.
bool gompi_reads(const struct gompi_started *s, int i);
bool gompi_is_read_by(const struct gompi_started *s, int i);
// The room that what this member gives takes.
enum gompi_board_space gompi_takes_space(const struct gompi_started *s);
// Returns true if progress threads are to look at it while the application computes.
bool gompi_is_much(const struct gompi_started *s);
// How many pieces that is.
uint32_t gompi_pieces(const struct gompi_started *s);
// Fills head or body with piece k, or, as BOARD_DIRECT, with where the data is.
void gompi_write_piece(struct gompi_started *s, uint32_t k);
// What a member says of its part, which others compare.
uint64_t gompi_part_what(const struct gompi_started *s, int of);
uint64_t gompi_part_plan(const struct gompi_started *s);
// Takes what is there: of the next piece from all, or all from who can be read directly. Returns true if all there is
// to read has been read.
bool gompi_take_pieces(struct gompi_started *s);

#pragma GCC visibility pop
#endif
