// Large reductions without copies of the operands. Each member reduces its result, or a part for all, from the operands
// in the memory of the other members, with process_vm_readv.
#include <stdlib.h>

#include "coll/direct.h"
#include "transport/cma.h"

// Bytes that are read at once. They stay in a cache until they are reduced. A system call costs 2 us, copying this many
// bytes 10 us.
enum { PIECE = 128 << 10 };

// The state of the direct reads of a call.
struct far {
	struct gompi_slots *t;
	struct gompi_slots_call *c;
	uint64_t *operand; // [n]: addresses of the members' operands
	// Buffers of PIECE bytes: data that was read; a result that must not overwrite an operand yet; parts for all,
	// used alternately.
	char *piece, *meanwhile, *parts[2];
	bool lost; // a read failed
};

static bool read_far(struct far *f, int i, uint64_t at, char *to, uint64_t bytes) {
	bool got = gompi_cma_move(f->t->peers[i], at, to, bytes, false);
	f->lost = f->lost || !got;
	return got;
}

// Stores in result the reduction of the operands of ranks [0, upto) at offset from, in rank order. It goes from the
// last rank down to the first, with each further operand on the left. Returns the error of the reduction function.
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

// Runs a divided reduction: each member reduces a part of each step for all, and members that get a result read all
// parts. A part is in the result buffer of the member that reduced it, or in private memory if that member gets no
// result.
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
		// A member publishes the address of its part after it has read this member's operand for it. So the
		// result may overwrite that part of the operand.
		for (int i = 0; gets && i < t->n && !f->lost; i++) {
			uint64_t at = gompi_least((uint64_t)i * each, left);
			if (i != t->me && at < left)
				read_far(f, i, gompi_slots_said(t, i), c->out + from + at,
					 gompi_least(each, left - at));
		}
	}
	return 0;
}

// Returns true if a byte at either end of the range that this member will read can be read, at every member.
static bool proves(struct far *f, uint64_t begin, uint64_t end, int upto) {
	char byte;
	for (int i = 0; i < upto && begin < end; i++)
		if (i != f->t->me && (!read_far(f, i, f->operand[i] + begin, &byte, 1) ||
				      !read_far(f, i, f->operand[i] + end - 1, &byte, 1)))
			return false;
	return true;
}

// The first word that a member publishes: the address of its operand, and whether its result overwrites the operand.
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
	// If results overwrite operands, the reduction cannot be repeated. So prove first that all operands can be
	// read.
	if (over && (rc = gompi_slots_say(t, c, w, plan, proves(&f, 0, c->bytes, t->n), &able)) != 0)
		goto out;
	if (able && parts)
		rc = fold_parts(&f, w, plan, failed);
	else if (able)
		*failed = fold_far(&f, d->from, d->bytes, d->upto, d->to);
	// No member may change its operand until all members have read it.
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
