// What members read in each other's memory, and how they tell each other where it is. For the files of this folder that
// are the algorithms.
#ifndef GOMPI_COLL_DIRECT_H
#define GOMPI_COLL_DIRECT_H

#include "coll/protocol.h"

#pragma GCC visibility push(hidden)

// An operation in which all say a word to all. *each: none has said 0. The words stay until the next operation is
// published.
int gompi_slots_say(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan, uint64_t word,
		    bool *each);
// What member i has said in the last operation.
uint64_t gompi_slots_said(struct gompi_slots *t, int i);

// What a member reads directly in the memory of others.
enum { GOMPI_FROM_ALL = -1, GOMPI_FROM_NONE = -2 };
struct gompi_direct_blocks {
	bool able;              // the data of this member lies together, and is not what it reads to
	bool follows;           // the members have agreed before
	const void *mine;       // what others read, NULL: nothing
	int from;               // whose memory is read: a member's, or one of GOMPI_FROM_
	uint64_t skip;          // from there on
	struct gompi_blocks to; // where the data of each goes
	uint64_t bytes;         // of each, or
	const uint64_t *sizes;
};

// Blocks of more bytes are read directly.
enum { GOMPI_DIRECT_FROM = 16 << 10 };

// Agrees with all, as gompi_slots_agree does, and moves the data if each member can. *done: it is there; otherwise it
// is to go through slots.
int gompi_slots_direct(struct gompi_slots *t, struct gompi_slots_call *c, const struct gompi_direct_blocks *d,
		       uint64_t w, uint64_t plan, bool *done);

// What a member folds for itself: so many bytes of the operands of ranks [0, upto), from an offset in them on.
struct gompi_fold {
	bool parts; // instead each folds a part for all, and those get everything who get a result of the call
	uint64_t from, bytes;
	int upto;
	char *to;
	bool over; // the result lies over this member's operand: slots then, or parts if it is an allreduce
};

// Reductions of more bytes read their operands directly, or if each member's part has more. With 4 members on 2 cores
// 256 KiB for one of them take 130 us so, and 340 through slots; with 8 there is no difference below 32 KiB each.
enum { GOMPI_FOLD_DIRECT_FROM = 32 << 10, GOMPI_FOLD_PART_FROM = 16 << 10 };

// As gompi_slots_direct; *failed is what a reduction returned.
int gompi_slots_reduce_direct(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan,
			      const struct gompi_fold *d, int *failed, bool *done);

#pragma GCC visibility pop
#endif
