// The arguments of a nonblocking or persistent collective as bytes: in the application's memory where they are
// contiguous, else in private memory. All arguments are checked here; Go reports the errors.
#include <stdlib.h>
#include <string.h>

#include "coll/protocol.h"
#include "coll/started.h"
#include "datatype/user_op.h"

// Reductions of at least this many bytes are divided: each member reduces one part for all.
enum { SPREAD_FROM = 8 << 10 };

enum shape { SHAPE_NONE, SHAPE_ONE, SHAPE_EACH, SHAPE_MANY };

static enum shape send_shape(int kind) {
	switch (kind) {
	case GOMPI_BARRIER:
	case GOMPI_BCAST:
		return SHAPE_NONE;
	case GOMPI_SCATTER:
	case GOMPI_ALLTOALL:
		return SHAPE_EACH;
	case GOMPI_SCATTERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return SHAPE_MANY;
	}
	return SHAPE_ONE;
}

static enum shape recv_shape(int kind) {
	switch (kind) {
	case GOMPI_BARRIER:
		return SHAPE_NONE;
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLTOALL:
		return SHAPE_EACH;
	case GOMPI_GATHERV:
	case GOMPI_ALLGATHERV:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return SHAPE_MANY;
	}
	return SHAPE_ONE;
}

// A collective under construction.
struct making {
	struct gompi_started *s;
	const struct gompi_collective *a;
	int n, me;
	bool other; // the call must run without the board
};

// Appends a transfer to a list of length *n. The capacity is the next power of two. Returns NULL if out of memory.
static struct gompi_board_copy *add_transfer(struct gompi_board_copy **list, int *n) {
	if ((*n & (*n - 1)) == 0) {
		struct gompi_board_copy *more = realloc(*list, (size_t)(*n > 0 ? 2 * *n : 1) * sizeof **list);
		if (more == NULL)
			return NULL;
		*list = more;
	}
	struct gompi_board_copy *t = &(*list)[(*n)++];
	*t = (struct gompi_board_copy){0};
	return t;
}

// Appends a transfer with private memory of the given size and returns that memory; NULL if out of memory.
static char *add_own(struct gompi_board_copy **list, int *n, const struct gompi_buffer *there, uint64_t bytes) {
	char *own = malloc(bytes);
	struct gompi_board_copy *t = own != NULL ? add_transfer(list, n) : NULL;
	if (t == NULL) {
		free(own);
		return NULL;
	}
	t->there = *there;
	t->here = own;
	t->owned = true;
	gompi_buffer_hold(there);
	return own;
}

static char *add_packed(struct making *m, const struct gompi_buffer *b) {
	return add_own(&m->s->before, &m->s->befores, b, (uint64_t)b->size);
}

// load_piece makes the bytes of an operand, as of the start; store_piece makes those of a result, as of the end. They
// return false if out of memory.
static bool load_piece(struct making *m, const struct gompi_buffer *b, struct gompi_piece *p) {
	*p = (struct gompi_piece){b->at, (uint64_t)b->size};
	return b->type == NULL || (p->at = add_packed(m, b)) != NULL;
}

static bool store_piece(struct making *m, const struct gompi_buffer *b, struct gompi_piece *p) {
	*p = (struct gompi_piece){b->at, (uint64_t)b->size};
	return b->type == NULL || (p->at = add_own(&m->s->after, &m->s->afters, b, p->bytes)) != NULL;
}

// Adds a copy of one range to another at the start.
static bool copy_at_start(struct making *m, struct gompi_piece from, struct gompi_piece to) {
	if (from.bytes == 0 || to.bytes == 0 || from.at == to.at || to.at == NULL)
		return true;
	struct gompi_board_copy *t = add_transfer(&m->s->before, &m->s->befores);
	if (t == NULL)
		return false;
	t->there = (struct gompi_buffer){.at = from.at, .size = (int64_t)gompi_least(from.bytes, to.bytes)};
	t->here = to.at;
	return true;
}

// Checks a buffer argument of count copies of a type. Returns false if it is invalid.
static bool buffer_of(struct gompi_buffer *b, uintptr_t at, int64_t count, uintptr_t type) {
	struct gompi_verdict v;
	return gompi_buffer_check(b, (const void *)at, count, (MPI_Datatype)type, false, &v) == MPI_SUCCESS &&
	       b->size <= GOMPI_MOST_BLOCK;
}

static int64_t listed_number(uintptr_t list, bool wide, int i) {
	return wide ? ((const int64_t *)list)[i] : ((const int *)list)[i];
}

// Describes block i of a side that has one block for each member. Returns false if it is invalid.
static bool argument_block(const struct making *m, enum shape shape, const struct gompi_side *side, int i,
			   struct gompi_buffer *b) {
	int64_t count = side->count, displ;
	uintptr_t type = side->type;
	bool bytes = false;
	if (shape == SHAPE_MANY) {
		count = listed_number(side->counts, m->a->wide, i);
		displ = listed_number(side->displs, m->a->wide, i);
		bytes = side->types != 0; // displacements are in bytes, else in extents of the type
		if (bytes)
			type = ((const uintptr_t *)side->types)[i];
	} else if (__builtin_mul_overflow(count, i, &displ)) {
		return false;
	}
	*b = (struct gompi_buffer){0};
	if (count == 0) // only the common type of all blocks must be valid then
		return bytes || buffer_of(b, side->buf, 0, type);
	const struct gompi_type *t = gompi_type_get((MPI_Datatype)type);
	if (t == NULL || __builtin_mul_overflow(displ, bytes ? 1 : t->extent, &displ))
		return false;
	return buffer_of(b, side->buf + (uintptr_t)displ, count, type);
}

static bool has_arrays(const struct making *m, enum shape shape, const struct gompi_side *side) {
	return shape != SHAPE_MANY ||
	       (side->counts != 0 && side->displs != 0 && (m->a->kind != GOMPI_ALLTOALLW || side->types != 0));
}

typedef bool take_block(struct making *m, const struct gompi_buffer *b, struct gompi_piece *p);

// Makes all blocks of a side with take. Of block keep (-1: none) only the length is stored; its data stays in place.
static bool take_blocks(struct making *m, enum shape shape, const struct gompi_side *side, take_block *take, int keep,
			struct gompi_piece *blocks) {
	struct gompi_buffer b;
	if (!has_arrays(m, shape, side))
		return false;
	for (int i = 0; i < m->n; i++) {
		if (!argument_block(m, shape, side, i, &b))
			return false;
		blocks[i] = (struct gompi_piece){NULL, (uint64_t)b.size};
		if (i != keep && !take(m, &b, &blocks[i]))
			return false;
	}
	return true;
}

// Makes all blocks of a side with equal blocks: one buffer, divided evenly.
static bool take_whole(struct making *m, const struct gompi_side *side, take_block *take, struct gompi_piece *blocks) {
	struct gompi_buffer b;
	struct gompi_piece whole;
	int64_t count;
	if (side->count < 0 || __builtin_mul_overflow(side->count, m->n, &count) ||
	    !buffer_of(&b, side->buf, count, side->type) || !take(m, &b, &whole))
		return false;
	for (int i = 0; i < m->n; i++) {
		blocks[i].bytes = whole.bytes / (uint64_t)m->n;
		blocks[i].at = whole.at + (uint64_t)i * blocks[i].bytes;
	}
	return true;
}

static bool take_ins(struct making *m, const struct gompi_side *side, take_block *take, struct gompi_piece *blocks) {
	enum shape shape = send_shape(m->a->kind);
	return shape == SHAPE_EACH ? take_whole(m, side, take, blocks) : take_blocks(m, shape, side, take, -1, blocks);
}

static bool load_copy(struct making *m, const struct gompi_buffer *b, struct gompi_piece *p) {
	*p = (struct gompi_piece){NULL, (uint64_t)b->size};
	return b->size == 0 || (p->at = add_packed(m, b)) != NULL;
}

static bool load_one(struct making *m, const struct gompi_side *side, struct gompi_piece *p) {
	struct gompi_buffer b;
	return buffer_of(&b, side->buf, side->count, side->type) && load_piece(m, &b, p);
}

static bool store_one(struct making *m, const struct gompi_side *side, struct gompi_piece *p) {
	struct gompi_buffer b;
	return buffer_of(&b, side->buf, side->count, side->type) && store_piece(m, &b, p);
}

// Makes the copy of the block that a member sends to itself; it runs at the start. If the lengths differ, records an
// error that is reported at the end, because the other members still need this one. Returns false if the ranges are the
// same memory, or if out of memory.
static bool send_to_itself(struct making *m, struct gompi_piece from, struct gompi_piece *to) {
	if (from.bytes > 0 && from.at == to->at)
		return false;
	if (from.bytes == to->bytes)
		return copy_at_start(m, from, *to);
	bool longer = from.bytes > to->bytes;
	gompi_error(&m->s->wrong, longer ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
		    longer ? "rank %d sends %llu bytes to itself but expects only %llu"
			   : "rank %d sends %llu bytes to itself but expects %llu",
		    m->me, (unsigned long long)from.bytes, (unsigned long long)to->bytes);
	return true;
}

static void discard_all(struct making *m, struct gompi_piece *blocks, uint64_t bytes) {
	for (int i = 0; i < m->n; i++)
		blocks[i] = (struct gompi_piece){NULL, bytes};
}

static bool is_wrong(const struct making *m) { return m->s->wrong.class != MPI_SUCCESS; }

static bool in_place(uintptr_t buf) { return buf == (uintptr_t)MPI_IN_PLACE; }

static bool make_bcast(struct making *m, struct gompi_part_of_call *p) {
	bool root = m->me == m->a->root;
	if (in_place(m->a->recv.buf))
		return false;
	if (!(root ? load_one(m, &m->a->recv, &p->in) : store_one(m, &m->a->recv, &p->out)))
		return false;
	m->s->bytes = root ? p->in.bytes : p->out.bytes;
	return true;
}

// Makes MPI_Gather, MPI_Allgather and their variants with individual block sizes.
static bool make_gather(struct making *m, struct gompi_part_of_call *p) {
	const struct gompi_collective *a = m->a;
	bool all = a->kind == GOMPI_ALLGATHER || a->kind == GOMPI_ALLGATHERV, gets = all || m->me == a->root;
	bool here = in_place(a->send.buf);
	enum shape shape = recv_shape(a->kind);
	if (gets &&
	    (in_place(a->recv.buf) || !take_blocks(m, shape, &a->recv, store_piece, here ? m->me : -1, p->outs)))
		return false;
	if (here) {
		struct gompi_buffer b;
		if (!gets || !argument_block(m, shape, &a->recv, m->me, &b) || !load_piece(m, &b, &p->in))
			return false;
	} else if (!load_one(m, &a->send, &p->in) || (gets && !send_to_itself(m, p->in, &p->outs[m->me]))) {
		return false;
	}
	m->s->bytes = p->in.bytes;
	if (is_wrong(m) && a->kind == GOMPI_ALLGATHER) // the other members receive this one's data as they expect
		discard_all(m, p->outs, p->in.bytes);
	if (is_wrong(m) && a->kind == GOMPI_GATHER)
		m->s->bytes = p->outs[m->me].bytes;
	if (!all)
		return true;
	for (int i = 0; i < m->n; i++)
		m->s->plan = m->s->plan > p->outs[i].bytes ? m->s->plan : p->outs[i].bytes;
	return true;
}

static bool make_scatter(struct making *m, struct gompi_part_of_call *p) {
	const struct gompi_collective *a = m->a;
	bool root = m->me == a->root, here = in_place(a->recv.buf);
	if ((here && !root) || (root && (in_place(a->send.buf) || !take_ins(m, &a->send, load_piece, p->ins))) ||
	    (!here && !store_one(m, &a->recv, &p->out)) ||
	    (root && !here && !send_to_itself(m, p->ins[m->me], &p->out)))
		return false;
	m->s->bytes = root ? p->ins[m->me].bytes : p->out.bytes;
	return true;
}

static bool make_alltoall(struct making *m, struct gompi_part_of_call *p) {
	const struct gompi_collective *a = m->a;
	bool here = in_place(a->send.buf);
	if (in_place(a->recv.buf) ||
	    !take_blocks(m, recv_shape(a->kind), &a->recv, store_piece, here ? m->me : -1, p->outs))
		return false;
	// Received data must not overwrite data that has not been sent.
	if (!(here ? take_ins(m, &a->recv, load_copy, p->ins) : take_ins(m, &a->send, load_piece, p->ins)) ||
	    (!here && !send_to_itself(m, p->ins[m->me], &p->outs[m->me])))
		return false;
	m->s->bytes = p->ins[m->me].bytes;
	if (is_wrong(m) && a->kind == GOMPI_ALLTOALL)
		discard_all(m, p->outs, m->s->bytes);
	return true;
}

// Reductions.

// The layout in which elements are transferred. Elements without gaps stay as they are in memory. Pairs with a gap keep
// it, because the kernels need it. Elements for a user-defined function are packed, and unpacked for it.
enum travel { TRAVEL_AS_THEY_LIE, TRAVEL_WITH_GAPS, TRAVEL_PACKED };

static bool make_reduction(struct making *m, enum travel *how) {
	const struct gompi_collective *a = m->a;
	struct gompi_reduction *r = &m->s->reduction;
	MPI_Op op = (MPI_Op)a->op;
	const struct gompi_type *t = gompi_type_get((MPI_Datatype)a->recv.type);
	if (t == NULL || t->size < 0)
		return false;
	bool lies = (t->flags & GOMPI_TYPE_CONTIGUOUS) != 0 && t->origin == 0 && t->size == t->extent;
	*r = (struct gompi_reduction){.kernel = gompi_op_kernel(op, (MPI_Datatype)a->recv.type)};
	if (r->kernel != NULL) {
		*how = lies ? TRAVEL_AS_THEY_LIE : TRAVEL_WITH_GAPS;
		r->size = (uint64_t)(lies ? t->size : t->extent);
		return op != MPI_REPLACE && op != MPI_NO_OP;
	}
	const struct gompi_user_op *u = gompi_user_op_get(op);
	if (u == NULL)
		return false;
	*how = lies ? TRAVEL_AS_THEY_LIE : TRAVEL_PACKED;
	r->size = t->size > 0 ? (uint64_t)t->size : 1;
	r->function = u->function, r->large = u->large, r->type = a->recv.type;
	if (!lies) {
		r->laid_out = t;
		gompi_type_hold(t);
	}
	m->s->asks = true;
	return true;
}

// Makes an operand of count elements.
static bool load_elements(struct making *m, enum travel how, uintptr_t at, int64_t count, struct gompi_piece *p) {
	struct gompi_buffer b;
	if (!buffer_of(&b, at, count, m->a->recv.type))
		return false;
	if (how != TRAVEL_WITH_GAPS)
		return load_piece(m, &b, p);
	*p = (struct gompi_piece){b.size > 0 ? b.at : NULL, (uint64_t)count * m->s->reduction.size};
	return true;
}

// Makes a result of count elements.
static bool store_elements(struct making *m, enum travel how, uintptr_t at, int64_t count, struct gompi_piece *p) {
	struct gompi_buffer b;
	if (!buffer_of(&b, at, count, m->a->recv.type))
		return false;
	if (how != TRAVEL_WITH_GAPS)
		return store_piece(m, &b, p);
	p->bytes = (uint64_t)count * m->s->reduction.size;
	p->at = NULL;
	if (p->bytes == 0)
		return true;
	p->at = add_own(&m->s->after, &m->s->afters, &b, p->bytes);
	if (p->at == NULL)
		return false;
	m->s->after[m->s->afters - 1].elements = count;
	return true;
}

// Returns true if the send and the receive buffer of a reduction differ.
static bool two_buffers(const struct making *m, int64_t count) {
	return count == 0 || m->a->send.buf != m->a->recv.buf;
}

// Splits a large reduction in two parts: each member reduces one part of the data, then all members, or the root,
// gather the results.
static bool spread_reduction(struct making *m) {
	struct gompi_started *s = m->s;
	struct gompi_part_of_call whole = s->part[0], *fold = &s->part[0], *gather = &s->part[1];
	bool gets = s->kind == GOMPI_ALLREDUCE || m->me == s->root;
	uint64_t n = (uint64_t)m->n, each = (s->bytes / s->reduction.size + n - 1) / n * s->reduction.size;
	if (s->bytes < SPREAD_FROM || m->n < 2 || s->reduction.size > GOMPI_BOARD_BODY / n)
		return true;
	fold->kind = GOMPI_REDUCE_SCATTER;
	gather->kind = s->kind == GOMPI_ALLREDUCE ? GOMPI_ALLGATHER : GOMPI_GATHER;
	for (int i = 0; i < m->n; i++) {
		uint64_t from = gompi_least((uint64_t)i * each, s->bytes), to = gompi_least(from + each, s->bytes);
		fold->ins[i] = (struct gompi_piece){whole.in.at + from, to - from};
		gather->outs[i] = (struct gompi_piece){gets ? whole.out.at + from : NULL, to - from};
	}
	fold->out = gather->outs[m->me];
	if (!gets && fold->out.bytes > 0) {
		s->spare = malloc(fold->out.bytes);
		if (s->spare == NULL)
			return false;
		fold->out.at = s->spare;
	}
	gather->in = fold->out;
	s->parts = 2;
	return true;
}

static bool make_reduce(struct making *m, struct gompi_part_of_call *p) {
	const struct gompi_collective *a = m->a;
	struct gompi_started *s = m->s;
	enum travel how;
	bool gets = a->kind == GOMPI_REDUCE ? m->me == a->root : a->kind != GOMPI_EXSCAN || m->me > 0;
	bool here = in_place(a->send.buf);
	if (a->recv.count < 0 || !make_reduction(m, &how) || (here && a->kind == GOMPI_REDUCE && !gets) ||
	    (gets && in_place(a->recv.buf)))
		return false;
	if (s->reduction.size > GOMPI_BOARD_BODY) {
		m->other = true;
		return false;
	}
	if (!load_elements(m, how, here ? a->recv.buf : a->send.buf, a->recv.count, &p->in) ||
	    (gets && !here && !two_buffers(m, a->recv.count)) ||
	    (gets && !store_elements(m, how, a->recv.buf, a->recv.count, &p->out)))
		return false;
	s->bytes = s->plan = p->in.bytes;
	if ((a->kind == GOMPI_REDUCE || a->kind == GOMPI_ALLREDUCE) && !spread_reduction(m))
		return false;
	// Data that other members may read in place must not change until they have read it.
	if (s->parts == 1 && gets && p->in.at == p->out.at && p->in.bytes > GOMPI_BOARD_BODY / 2) {
		struct gompi_buffer b = {.at = p->in.at, .size = (int64_t)p->in.bytes};
		return load_copy(m, &b, &p->in);
	}
	return true;
}

static bool make_reduce_scatter(struct making *m, struct gompi_part_of_call *p) {
	const struct gompi_collective *a = m->a;
	struct gompi_started *s = m->s;
	enum travel how;
	bool here = in_place(a->send.buf), many = a->kind == GOMPI_REDUCE_SCATTER;
	int64_t all = 0, mine = a->recv.count;
	if ((many && a->recv.counts == 0) || in_place(a->recv.buf) || !make_reduction(m, &how))
		return false;
	if (s->reduction.size > GOMPI_BOARD_BODY / (uint64_t)m->n) {
		m->other = true;
		return false;
	}
	const uint64_t element = gompi_type_get((MPI_Datatype)a->recv.type)->size > 0 ? s->reduction.size : 0;
	for (int i = 0; i < m->n; i++) {
		int64_t count = many ? listed_number(a->recv.counts, a->wide, i) : a->recv.count;
		if (count < 0 || __builtin_add_overflow(all, count, &all) ||
		    all > GOMPI_MOST_BLOCK / (int64_t)s->reduction.size)
			return false;
		p->ins[i].bytes = (uint64_t)count * element;
		if (i == m->me)
			mine = count;
		s->plan = s->plan > p->ins[i].bytes ? s->plan : p->ins[i].bytes;
	}
	if (!load_elements(m, how, here ? a->recv.buf : a->send.buf, all, &p->in) || (!here && !two_buffers(m, mine)) ||
	    !store_elements(m, how, a->recv.buf, mine, &p->out))
		return false;
	// Data to be sent must not change until the end.
	if (here && p->out.at == p->in.at && p->out.bytes > 0) {
		struct gompi_buffer b = {.at = p->out.at, .size = (int64_t)p->out.bytes};
		if ((p->out.at = add_own(&s->after, &s->afters, &b, p->out.bytes)) == NULL)
			return false;
	}
	char *at = p->in.at;
	for (int i = 0; i < m->n; i++) {
		p->ins[i].at = at;
		at += p->ins[i].bytes;
	}
	s->bytes = p->in.bytes;
	return true;
}

static bool make_part(struct making *m, struct gompi_part_of_call *p) {
	switch (m->a->kind) {
	case GOMPI_BARRIER:
		return true;
	case GOMPI_BCAST:
		return make_bcast(m, p);
	case GOMPI_GATHER:
	case GOMPI_GATHERV:
	case GOMPI_ALLGATHER:
	case GOMPI_ALLGATHERV:
		return make_gather(m, p);
	case GOMPI_SCATTER:
	case GOMPI_SCATTERV:
		return make_scatter(m, p);
	case GOMPI_ALLTOALL:
	case GOMPI_ALLTOALLV:
	case GOMPI_ALLTOALLW:
		return make_alltoall(m, p);
	case GOMPI_REDUCE:
	case GOMPI_ALLREDUCE:
	case GOMPI_SCAN:
	case GOMPI_EXSCAN:
		return make_reduce(m, p);
	case GOMPI_REDUCE_SCATTER:
	case GOMPI_REDUCE_SCATTER_BLOCK:
		return make_reduce_scatter(m, p);
	}
	m->other = true;
	return false;
}

// Returns the kind that represents a kind on the board.
static int kind_on_board(int kind) {
	switch (kind) {
	case GOMPI_ALLGATHERV:
		return GOMPI_ALLGATHER;
	case GOMPI_ALLTOALLW:
		return GOMPI_ALLTOALLV;
	case GOMPI_REDUCE_SCATTER_BLOCK:
		return GOMPI_REDUCE_SCATTER;
	}
	return kind;
}

struct gompi_started *gompi_started_make(const struct gompi_comm *c, const struct gompi_collective *a, bool *other) {
	size_t n = (size_t)c->size;
	struct making m = {.a = a, .n = c->size, .me = c->rank};
	*other = false;
	if ((unsigned)a->root >= (unsigned)c->size)
		return NULL;
	struct gompi_started *s = malloc(sizeof *s + 4 * n * sizeof(struct gompi_piece) + n * sizeof *s->taken);
	if (s == NULL)
		return NULL;
	memset(s, 0, offsetof(struct gompi_started, end_of_plain));
	struct gompi_piece *pieces = (struct gompi_piece *)(s + 1);
	for (int i = 0; i < 2; i++) {
		s->part[i].ins = pieces + (2 * (size_t)i) * n;
		s->part[i].outs = pieces + (2 * (size_t)i + 1) * n;
	}
	s->taken = (uint32_t *)(pieces + 4 * n);
	s->board = c->board;
	s->name = a->name;
	s->kind = s->part[0].kind = kind_on_board(a->kind);
	s->root = a->root;
	s->reduction.size = 1;
	s->parts = 1;
	s->wrong.class = MPI_SUCCESS;
	m.s = s;
	if (!make_part(&m, &s->part[0])) {
		*other = m.other;
		gompi_started_drop(s);
		return NULL;
	}
	if (s->plan == 0)
		s->plan = s->bytes;
	return s;
}

static void drop_transfers(struct gompi_board_copy *list, int n) {
	for (int i = 0; i < n; i++) {
		if (!list[i].owned)
			continue;
		free(list[i].here);
		gompi_buffer_drop(&list[i].there);
	}
	free(list);
}

void gompi_started_drop(struct gompi_started *s) {
	drop_transfers(s->before, s->befores);
	drop_transfers(s->after, s->afters);
	if (s->reduction.laid_out != NULL)
		gompi_type_drop(s->reduction.laid_out);
	free(s->spare);
	free(s->idup);
	free(s);
}

void gompi_started_load(struct gompi_started *s) {
	for (int i = 0; i < s->befores; i++)
		gompi_buffer_pack(&s->before[i].there, s->before[i].here, 0, s->before[i].there.size);
}

void gompi_started_store(struct gompi_started *s) {
	for (int i = 0; i < s->afters; i++) {
		struct gompi_board_copy *t = &s->after[i];
		if (t->elements == 0)
			gompi_buffer_unpack(&t->there, 0, t->here, t->there.size);
		else
			gompi_typed_copy(t->there.at, t->elements, t->there.type, t->here, t->elements, t->there.type);
	}
}
