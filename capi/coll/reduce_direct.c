// Reductions of much data without copies of the operands: each member folds what it wants, or a part for all, from
// where it lies in the memory of the others, with process_vm_readv.
#include <stdlib.h>

#include "coll/direct.h"
#include "transport/cma.h"

// Of so many bytes at a time: they stay in a cache until they are folded.
// A call of the system costs 2 us, this much 10.
enum { PIECE = 128 << 10 };

// What is read from others in a call.
struct far {
	struct gompi_slots *t;
	struct gompi_slots_call *c;
	uint64_t *operand; // [n]: the address of each member's
	// Each of PIECE: what has been read; a result that must not lie over an operand yet; parts for all, in turn.
	char *piece, *meanwhile, *parts[2];
	bool lost; // something could not be read
};

static bool read_far(struct far *f, int i, uint64_t at, char *to, uint64_t bytes) {
	bool got = gompi_cma_move(f->t->peers[i], at, to, bytes, false);
	f->lost = f->lost || !got;
	return got;
}

// Leaves in result the reduction of bytes of the operands of ranks [0, upto), in their order: from the last to the
// first, each on the left. What a reduction returned.
static int fold_far(struct far *f, uint64_t from, uint64_t bytes, int upto, char *result) {
	const struct gompi_reduction *r = &f->c->reduction;
	const uint64_t most = PIECE / r->size * r->size;
	const int me = f->t->me;
	int failed = 0;
	for (uint64_t n; bytes > 0 && !failed; from += n, result += n, bytes -= n) {
		const char *own = f->c->in + from;
		char *acc = own == result && me < upto - 1 ? f->meanwhile : result;
		n = gompi_least(bytes, most);
		for (int i = upto - 1; i >= 0 && !failed; i--) {
			bool last = i == upto - 1;
			if (i == me && last)
				gompi_copy_between(acc, own, n);
			else if (i == me)
				failed = gompi_combine(r, own, acc, n);
			else if (read_far(f, i, f->operand[i] + from, last ? acc : f->piece, n) && !last)
				failed = gompi_combine(r, f->piece, acc, n);
		}
		gompi_copy_between(result, acc, n);
	}
	return failed;
}

// Each member folds a part of each step for all, and those who get a result read it where it is: in the result of who
// folded it, or in memory of the call's if that gets none.
static int fold_parts(struct far *f, uint64_t w, uint64_t plan, int *failed) {
	struct gompi_slots *t = f->t;
	struct gompi_slots_call *c = f->c;
	const bool gets = c->kind == GOMPI_ALLREDUCE || c->root == t->me;
	const uint64_t size = c->reduction.size, n = (uint64_t)t->n, room = PIECE / size * size;
	int turn = 0;
	for (uint64_t from = 0, left; from < c->bytes; from += n * room, turn = !turn) {
		left = gompi_least(c->bytes - from, n * room);
		const uint64_t each = (left / size + n - 1) / n * size,
			       mine = gompi_least((uint64_t)t->me * each, left);
		char *part = gets ? c->out + from + mine : f->parts[turn];
		if (!*failed)
			*failed = fold_far(f, from + mine, gompi_least(each, left - mine), t->n, part);
		bool each_has;
		int rc = gompi_slots_say(t, c, w, plan, f->lost ? 0 : (uint64_t)(uintptr_t)part, &each_has);
		if (rc)
			return rc;
		f->lost = f->lost || !each_has;
		// Who has said where its part is has read this member's operand for it, which the result may lie over.
		for (int i = 0; gets && i < t->n && !f->lost; i++) {
			uint64_t at = gompi_least((uint64_t)i * each, left);
			if (i != t->me && at < left)
				read_far(f, i, gompi_slots_said(t, i), c->out + from + at,
					 gompi_least(each, left - at));
		}
	}
	return 0;
}

// Returns true if a byte at either end of what this member is going to read can be read.
static bool proves(struct far *f, uint64_t begin, uint64_t end, int upto) {
	char byte;
	for (int i = 0; i < upto && begin < end; i++)
		if (i != f->t->me && (!read_far(f, i, f->operand[i] + begin, &byte, 1) ||
				      !read_far(f, i, f->operand[i] + end - 1, &byte, 1)))
			return false;
	return true;
}

// What a member says first: where its operand is, and whether its result lies over it.
enum { OVER = 1, ADDRESS_SHIFT = 1 };

int gompi_slots_reduce_direct(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan,
			      const struct gompi_fold *d, int *failed, bool *done) {
	const size_t operands = (size_t)t->n * sizeof(uint64_t);
	char *memory = malloc(operands + 4 * PIECE);
	char *pieces = memory + operands;
	struct far f = {
		t,    c, (uint64_t *)(void *)memory, pieces, pieces + PIECE, {pieces + 2 * PIECE, pieces + 3 * PIECE},
		false};
	bool able = gompi_node.cma && !t->no_direct && memory != NULL && c->reduction.size <= PIECE, over = false;
	*done = false;
	int rc = gompi_slots_say(t, c, w, plan,
				 able ? (uint64_t)(uintptr_t)c->in << ADDRESS_SHIFT | (d->over ? OVER : 0) : 0, &able);
	if (rc == 0 && gompi_slots_differ(c))
		rc = GOMPI_SLOTS_DIFFER;
	for (int i = 0; rc == 0 && able && i < t->n; i++) {
		const uint64_t said = gompi_slots_said(t, i);
		f.operand[i] = said >> ADDRESS_SHIFT;
		over = over || (said & OVER);
	}
	bool parts = d->parts || (over && c->kind == GOMPI_ALLREDUCE);
	if (rc || !able || (over && !parts && c->kind != GOMPI_REDUCE))
		goto out;
	// What lies under results cannot be folded once more: it is proved first that all can be read.
	if (over && (rc = gompi_slots_say(t, c, w, plan, proves(&f, 0, c->bytes, t->n), &able)) != 0)
		goto out;
	if (able && parts)
		rc = fold_parts(&f, w, plan, failed);
	else if (able)
		*failed = fold_far(&f, d->from, d->bytes, d->upto, d->to);
	// Until all have read what they want of it nobody may change it.
	bool proved = over && able;
	if (rc == 0)
		rc = gompi_slots_say(t, c, w, plan, able && !f.lost, done);
	t->no_direct = !*done;
	if (rc == 0 && !*done && proved)
		rc = MPI_ERR_INTERN;
	if (!*done)
		*failed = 0;
out:
	free(memory);
	return rc;
}
