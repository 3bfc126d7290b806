// Reductions over slots. All members reduce the same operands in the same order, or one member does it for all. So all
// members get bitwise identical results.
#include "coll/direct.h"

// The operands of an operation, in the members' slots. This member's own operand is read from another copy where
// possible, because the cache lines of its slot are moving to the other members.
struct operands {
	struct gompi_slots *t;
	uint64_t number;
	enum gompi_slot_place place;
	const char *own;
};

static inline const char *operand(const struct operands *o, int i) {
	return i == o->t->me ? o->own : gompi_slot_data(o->t, i, o->number, o->place);
}

// Stores in acc the reduction of the operands of ranks [0, upto) in rank order. It goes from the last rank down to the
// first, with each further operand on the left.
static inline __attribute__((always_inline)) int fold(const struct gompi_reduction *r, const struct operands *o,
						      char *acc, uint64_t bytes, int upto) {
	gompi_copy_between(acc, operand(o, upto - 1), bytes);
	for (int i = upto - 2; i >= 0; i--) {
		int rc = gompi_combine(r, operand(o, i), acc, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

// Runs one operation: all members fill their slots, and those that get a result reduce the operands of ranks [0, upto).
// Stores the first error of the reduction in *failed and continues, because the other members still need this one.
static inline int fold_step(struct gompi_slots *t, struct gompi_slots_call *c, enum gompi_slot_place p, uint64_t from,
			    uint64_t bytes, int upto, int *failed) {
	const struct gompi_reduction *r = &c->reduction;
	uint64_t w = gompi_what(c->kind, c->root, c->bytes), plan = gompi_plan(c->bytes, r->size);
	int rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	char few[GOMPI_SLOT_INLINE], *slot = gompi_slot_data(t, t->me, t->seq, p);
	gompi_copy_out(slot, c->in + from, bytes);
	gompi_slots_publish(t, w, plan);
	struct operands o = {t, t->seq, p, c->in + from};
	if (c->in == c->out) { // the result overwrites the operand
		o.own = p == GOMPI_IN_HEAD ? few : slot;
		if (p == GOMPI_IN_HEAD)
			gompi_copy_out(few, c->in + from, bytes);
	}
	if (upto == t->n) {
		rc = gompi_slots_await_all(t, c, w, plan);
		if (rc)
			return rc;
	} else {
		for (int i = upto - 1; i >= 0; i--) {
			if (i == t->me)
				continue;
			rc = gompi_slots_await_series(t, i);
			if (rc)
				return rc;
			gompi_slots_same(t, c, i, w, plan);
		}
	}
	if (upto > 0 && bytes > 0 && !gompi_slots_differ(c) && !*failed)
		*failed = fold(r, &o, c->out + from, bytes, upto);
	gompi_slots_finish_series(t, true);
	return 0;
}

int gompi_slots_bring(struct gompi_slots *t, struct gompi_slots_call *c, uint64_t w, uint64_t plan, uint64_t bytes,
		      char *acc, int *failed) {
	enum gompi_slot_place p = gompi_place_of(bytes);
	int rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	if (t->me != 0)
		gompi_copy_out(gompi_slot_data(t, t->me, t->seq, p), c->in, bytes);
	gompi_slots_publish(t, w, plan);
	if (t->me == 0) {
		rc = gompi_slots_await_all(t, c, w, plan);
		if (rc)
			return rc;
		struct operands o = {t, t->seq, p, c->in};
		if (bytes > 0 && !gompi_slots_differ(c))
			*failed = fold(&c->reduction, &o, acc, bytes, t->n);
	}
	gompi_slots_finish(t);
	return 0;
}

// One step of a divided reduction. Each member writes its operand to its slot, except the part that it reduces itself.
// It reduces its part of all operands into its next slot, from which the others read it.
struct part {
	uint64_t from, bytes; // of the step
	uint64_t room;        // bytes for each part in a slot
	uint64_t each;        // bytes of each part except the last ones
};

static inline uint64_t part_begin(const struct part *s, int i) { return gompi_least((uint64_t)i * s->each, s->bytes); }

static inline uint64_t part_bytes(const struct part *s, int i) { return part_begin(s, i + 1) - part_begin(s, i); }

// Returns the offset of member j's part in the slot of member i, which omits its own part.
static inline uint64_t part_place(const struct part *s, int i, int j) {
	return (uint64_t)(j < i ? j : j - 1) * s->room;
}

static int spread_step(struct gompi_slots *t, struct gompi_slots_call *c, const struct part *s, int *failed) {
	const struct gompi_reduction *r = &c->reduction;
	const enum gompi_slot_place p = GOMPI_IN_LARGE;
	uint64_t w = gompi_what(c->kind, c->root, c->bytes), plan = gompi_plan(c->bytes, r->size);
	const char *own = c->in + s->from;
	int rc = gompi_slots_begin(t, p), me = t->me;
	if (rc)
		return rc;
	char *slot = gompi_slot_data(t, me, t->seq, p);
	for (int i = 0; i < t->n; i++)
		if (i != me)
			gompi_copy_out(slot + part_place(s, me, i), own + part_begin(s, i), part_bytes(s, i));
	gompi_slots_publish(t, w, plan);
	rc = gompi_slots_await_all(t, c, w, plan);
	if (rc)
		return rc;
	// All members have filled this slot, so all have finished the operation before it, and the next slot is free.
	char *acc = gompi_slot_data(t, me, t->seq + 1, p);
	uint64_t bytes = part_bytes(s, me);
	for (int i = t->n - 1; i >= 0 && !*failed; i--) {
		const char *from =
			i == me ? own + part_begin(s, me) : gompi_slot_data(t, i, t->seq, p) + part_place(s, i, me);
		if (i == t->n - 1)
			gompi_copy_between(acc, from, bytes);
		else
			*failed = gompi_combine(r, from, acc, bytes);
	}
	gompi_slots_finish(t);
	rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	gompi_slots_publish(t, w, plan);
	bool gets = c->kind == GOMPI_ALLREDUCE || c->root == me;
	for (int i = 0; gets && i < t->n; i++) {
		if (i != me) {
			rc = gompi_slots_await(t, i);
			if (rc)
				return rc;
			gompi_slots_same(t, c, i, w, plan);
		}
		gompi_copy_in(c->out + s->from + part_begin(s, i), gompi_slot_data(t, i, t->seq, p), part_bytes(s, i));
	}
	if (gets)
		t->settled = t->seq - 1;
	gompi_slots_finish(t);
	return 0;
}

// Reductions of at least this many bytes are divided: each member reduces a part for all.
enum { SPREAD_FROM = 8 << 10 };

// Reduces data that needs more than one operation. Not inlined, so that its callers need fewer registers.
static __attribute__((noinline)) int reduce_long(struct gompi_slots *t, struct gompi_slots_call *c, int upto) {
	const struct gompi_reduction *r = &c->reduction;
	int rc, failed = 0;
	bool all = c->kind == GOMPI_ALLREDUCE || c->kind == GOMPI_REDUCE, done = false;
	uint64_t w = gompi_what(c->kind, c->root, c->bytes), plan = gompi_plan(c->bytes, r->size);
	// With two members each reads the other's operand: a part reduced by one would have to be transferred too.
	const bool parts = all && t->n > 2;
	if (c->bytes > (parts ? (uint64_t)t->n * GOMPI_FOLD_PART_FROM : GOMPI_FOLD_DIRECT_FROM)) {
		struct gompi_fold d = {.parts = parts,
				       .bytes = upto > 0 ? c->bytes : 0,
				       .upto = upto,
				       .to = c->out,
				       .over = upto > 0 && c->in == c->out};
		rc = gompi_slots_reduce_direct(t, c, w, plan, &d, &failed, &done);
	} else {
		rc = gompi_slots_agree(t, c, w, plan);
	}
	if (rc || done)
		return rc ? rc : failed;
	enum gompi_slot_place p = gompi_slots_large(t);
	if (r->size > gompi_capacity(p))
		return GOMPI_SLOTS_MESSAGES;
	uint64_t n = (uint64_t)t->n, room = gompi_capacity(p) / (n - 1) / r->size * r->size;
	bool spread = all && p == GOMPI_IN_LARGE && c->bytes >= SPREAD_FROM && room > 0;
	uint64_t step = spread ? n * room : gompi_capacity(p) / r->size * r->size;
	for (uint64_t from = 0; from < c->bytes; from += step) {
		uint64_t bytes = gompi_least(c->bytes - from, step);
		if (spread) {
			struct part s = {from, bytes, room, (bytes / r->size + n - 1) / n * r->size};
			rc = spread_step(t, c, &s, &failed);
		} else {
			rc = fold_step(t, c, p, from, bytes, upto, &failed);
		}
		if (rc)
			return rc;
	}
	return failed ? failed : gompi_slots_result(c);
}

int gompi_slots_reduce(struct gompi_slots *t, struct gompi_slots_call *c) {
	int upto = c->kind == GOMPI_SCAN ? t->me + 1 : c->kind == GOMPI_EXSCAN ? t->me : t->n, failed = 0;
	if (c->kind == GOMPI_REDUCE && t->me != c->root)
		upto = 0;
	enum gompi_slot_place p = gompi_place_of(c->bytes);
	if (p == GOMPI_IN_LARGE)
		return reduce_long(t, c, upto);
	int rc = fold_step(t, c, p, 0, c->bytes, upto, &failed);
	return rc ? rc : failed ? failed : gompi_slots_result(c);
}

// Runs MPI_Reduce_scatter: each member gets the reduction of all members' blocks for it.
int gompi_slots_reduce_scatter(struct gompi_slots *t, struct gompi_slots_call *c) {
	const struct gompi_reduction *r = &c->reduction;
	uint64_t longest = 0, n = (uint64_t)t->n;
	for (int i = 0; i < t->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	uint64_t w = gompi_what(c->kind, 0, c->bytes), plan = gompi_plan(longest, r->size);
	enum gompi_slot_place p = GOMPI_IN_SMALL;
	uint64_t share = gompi_capacity(p) / n / r->size * r->size;
	int rc = 0, failed = 0;
	if (longest > share) {
		bool done = false;
		if (longest > GOMPI_FOLD_DIRECT_FROM) {
			struct gompi_fold d = {.bytes = c->sizes[t->me], .upto = t->n, .to = c->out};
			for (int i = 0; i < t->me; i++)
				d.from += c->sizes[i];
			rc = gompi_slots_reduce_direct(t, c, w, plan, &d, &failed, &done);
		} else {
			rc = gompi_slots_agree(t, c, w, plan);
		}
		if (rc || done)
			return rc ? rc : failed;
		p = gompi_slots_large(t);
		share = gompi_capacity(p) / n / r->size * r->size;
		if (share == 0)
			return GOMPI_SLOTS_MESSAGES;
	}
	uint64_t from = 0;
	do {
		rc = gompi_slots_begin(t, p);
		if (rc)
			return rc;
		char *slot = gompi_slot_data(t, t->me, t->seq, p);
		const char *block = c->in;
		for (int i = 0; i < t->n; i++) {
			if (c->sizes[i] > from)
				gompi_copy_out(slot + (uint64_t)i * share, block + from,
					       gompi_least(c->sizes[i] - from, share));
			block += c->sizes[i];
		}
		gompi_slots_publish(t, w, plan);
		rc = gompi_slots_await_all(t, c, w, plan);
		if (rc)
			return rc;
		uint64_t mine = c->sizes[t->me] > from ? gompi_least(c->sizes[t->me] - from, share) : 0;
		for (int i = t->n - 1; i >= 0 && mine > 0 && !failed && !gompi_slots_differ(c); i--) {
			const char *part = gompi_slot_data(t, i, t->seq, p) + (uint64_t)t->me * share;
			if (i == t->n - 1)
				gompi_copy_in(c->out + from, part, mine);
			else
				failed = gompi_combine(r, part, c->out + from, mine);
		}
		gompi_slots_finish(t);
		from += share;
	} while (from < longest);
	return failed ? failed : gompi_slots_result(c);
}
