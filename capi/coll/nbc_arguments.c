// Converts the arguments of a collective to ranges of bytes: of a nonblocking or persistent one, or of a blocking one
// that no fast path accepts (slow_path.c). The ranges are in the application's memory if the data is contiguous, else
// in private memory. Checks all arguments; Go reports the errors.
#include <stdlib.h>
#include <string.h>

#include "coll/blocks.h"
#include "coll/protocol.h"
#include "coll/nbc_op.h"
#include "datatype/type_props.h"
#include "datatype/user_op.h"

// Reductions of at least this many bytes are divided: each member reduces one chunk for all members. With two members,
// chunks save no transfer, but each member reduces half of the data. Measured there, divided and undivided: MPI_Ireduce
// of 16 KiB 5.2 and 1.6 us, of 128 KiB 15 and 8.5 us, of 1 MiB 137 and 221 us or more.
enum { NBC_SPLIT_MIN_BYTES = 8 << 10, NBC_SPLIT_PAIR_MIN_BYTES = 256 << 10 };

// A collective under construction.
struct nbc_builder {
	struct gompi_nbc_op *s;
	const struct gompi_collective *a;
	int n, me;
	struct gompi_call_memory *memory; // NULL in a nonblocking call
	bool use_messages;                // the call must run with messages
};

struct gompi_call_block {
	struct gompi_call_block *next;
	_Alignas(16) char data[];
};

void *gompi_call_alloc(struct gompi_call_memory *m, size_t bytes) {
	const size_t padded = (bytes + 15) & ~(size_t)15;
	if (padded <= sizeof m->buffer - m->used) {
		m->used += padded;
		return m->buffer + m->used - padded;
	}
	struct gompi_call_block *b = malloc(sizeof *b + bytes);
	if (b == NULL)
		return NULL;
	b->next = m->blocks;
	m->blocks = b;
	return b->data;
}

void gompi_call_memory_free(struct gompi_call_memory *m) {
	for (struct gompi_call_block *b = m->blocks, *next; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
}

static void *builder_alloc(struct nbc_builder *m, size_t bytes) {
	return m->memory != NULL ? gompi_call_alloc(m->memory, bytes) : malloc(bytes);
}

// Appends a zeroed struct gompi_nbc_copy to a list of length *n and returns its address. The list's capacity is *n
// rounded up to a power of two. Returns NULL if out of memory.
static struct gompi_nbc_copy *add_copy(struct nbc_builder *m, struct gompi_nbc_copy **list, int *n) {
	if ((*n & (*n - 1)) == 0) {
		struct gompi_nbc_copy *grown = builder_alloc(m, (size_t)(*n > 0 ? 2 * *n : 1) * sizeof **list);
		if (grown == NULL)
			return NULL;
		if (*n > 0)
			memcpy(grown, *list, (size_t)*n * sizeof **list);
		if (m->memory == NULL)
			free(*list);
		*list = grown;
	}
	struct gompi_nbc_copy *t = &(*list)[(*n)++];
	*t = (struct gompi_nbc_copy){0};
	return t;
}

// Allocates private memory of this many bytes and appends a copy between the buffer *user and this memory. Returns the
// private memory, or NULL if out of memory.
static char *add_packed_copy(struct nbc_builder *m, struct gompi_nbc_copy **list, int *n,
			     const struct gompi_buffer *user, uint64_t bytes) {
	char *packed = builder_alloc(m, bytes);
	struct gompi_nbc_copy *t = packed != NULL ? add_copy(m, list, n) : NULL;
	if (t == NULL) {
		if (m->memory == NULL)
			free(packed);
		return NULL;
	}
	t->user = *user;
	t->packed = packed;
	t->owns_packed = m->memory == NULL;
	if (t->owns_packed)
		gompi_buffer_retain(user);
	return packed;
}

static char *add_copy_in(struct nbc_builder *m, const struct gompi_buffer *b) {
	return add_packed_copy(m, &m->s->copies_in, &m->s->copies_in_count, b, (uint64_t)b->size);
}

// Describes in *p the bytes to send from a buffer. If the buffer is not contiguous, these bytes are packed into private
// memory when the collective starts. make_recv_span describes the bytes to receive. If the buffer is not contiguous,
// private memory receives these bytes, and they are unpacked when the collective ends. Both functions return false if
// out of memory.
static bool make_send_span(struct nbc_builder *m, const struct gompi_buffer *b, struct gompi_span *p) {
	*p = (struct gompi_span){b->at, (uint64_t)b->size};
	return b->type == NULL || (p->at = add_copy_in(m, b)) != NULL;
}

static bool make_recv_span(struct nbc_builder *m, const struct gompi_buffer *b, struct gompi_span *p) {
	*p = (struct gompi_span){b->at, (uint64_t)b->size};
	return b->type == NULL ||
	       (p->at = add_packed_copy(m, &m->s->copies_out, &m->s->copies_out_count, b, p->bytes)) != NULL;
}

// Adds a copy from one range to another, which runs when the collective starts. Returns false if out of memory.
static bool copy_at_start(struct nbc_builder *m, struct gompi_span from, struct gompi_span to) {
	if (from.bytes == 0 || to.bytes == 0 || from.at == to.at || to.at == NULL)
		return true;
	struct gompi_nbc_copy *t = add_copy(m, &m->s->copies_in, &m->s->copies_in_count);
	if (t == NULL)
		return false;
	t->user = (struct gompi_buffer){.at = from.at, .size = (int64_t)gompi_min_u64(from.bytes, to.bytes)};
	t->packed = to.at;
	return true;
}

// Checks a buffer argument of `count` elements of a type, and describes the buffer in *b. Returns false if it is
// invalid.
static bool buffer_of(struct gompi_buffer *b, uintptr_t at, int64_t count, uintptr_t type) {
	struct gompi_error_status v;
	return gompi_buffer_check(b, (const void *)at, count, (MPI_Datatype)type, false, &v) == MPI_SUCCESS &&
	       b->size <= GOMPI_MAX_BLOCK_BYTES;
}

// Describes block i of a side that has one block for each member. Returns false if it is invalid.
static bool argument_block(const struct nbc_builder *m, enum gompi_shape shape,
			   const struct gompi_collective_side *side, int i, struct gompi_buffer *b) {
	int64_t count, displ;
	MPI_Datatype type;
	if (!gompi_block_arguments(m->a, shape, side, i, &count, &displ, &type))
		return false;
	*b = (struct gompi_buffer){0};
	if (count == 0) // an empty block needs a valid type only if all blocks have one common type
		return side->types != 0 || buffer_of(b, side->buf, 0, (uintptr_t)type);
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || __builtin_mul_overflow(displ, side->types != 0 ? 1 : t->extent, &displ))
		return false;
	return buffer_of(b, side->buf + (uintptr_t)displ, count, (uintptr_t)type);
}

typedef bool make_span_fn(struct nbc_builder *m, const struct gompi_buffer *b, struct gompi_span *p);

// Describes the blocks of a side whose buffer consists of n equal blocks. Returns false if an argument is invalid or
// memory is exhausted.
static bool make_equal_blocks(struct nbc_builder *m, const struct gompi_collective_side *side, make_span_fn *make_span,
			      struct gompi_span *blocks) {
	struct gompi_buffer b;
	struct gompi_span whole;
	int64_t count;
	if (side->count < 0 || __builtin_mul_overflow(side->count, m->n, &count) ||
	    !buffer_of(&b, side->buf, count, side->type) || !make_span(m, &b, &whole))
		return false;
	for (int i = 0; i < m->n; i++) {
		blocks[i].bytes = whole.bytes / (uint64_t)m->n;
		blocks[i].at = whole.at + (uint64_t)i * blocks[i].bytes;
	}
	return true;
}

// Describes all blocks of a side with make_span. For the block with index in_place_block, stores only the length,
// because MPI_IN_PLACE leaves its data where it is. If in_place_block is -1, there is no such block. Returns false if
// an argument is invalid or memory is exhausted.
static bool make_blocks(struct nbc_builder *m, enum gompi_shape shape, const struct gompi_collective_side *side,
			make_span_fn *make_span, int in_place_block, struct gompi_span *blocks) {
	struct gompi_buffer b;
	if (shape == SHAPE_EQUAL && in_place_block < 0)
		return make_equal_blocks(m, side, make_span, blocks);
	if (!gompi_has_arrays(m->a, shape, side))
		return false;
	for (int i = 0; i < m->n; i++) {
		if (!argument_block(m, shape, side, i, &b))
			return false;
		blocks[i] = (struct gompi_span){NULL, (uint64_t)b.size};
		if (i != in_place_block && !make_span(m, &b, &blocks[i]))
			return false;
	}
	return true;
}

static bool make_send_blocks(struct nbc_builder *m, const struct gompi_collective_side *side, make_span_fn *make_span,
			     struct gompi_span *blocks) {
	return make_blocks(m, gompi_send_shape(m->a->kind), side, make_span, -1, blocks);
}

static bool make_send_copy(struct nbc_builder *m, const struct gompi_buffer *b, struct gompi_span *p) {
	*p = (struct gompi_span){NULL, (uint64_t)b->size};
	return b->size == 0 || (p->at = add_copy_in(m, b)) != NULL;
}

static bool make_send_side(struct nbc_builder *m, const struct gompi_collective_side *side, struct gompi_span *p) {
	struct gompi_buffer b;
	return buffer_of(&b, side->buf, side->count, side->type) && make_send_span(m, &b, p);
}

static bool make_recv_side(struct nbc_builder *m, const struct gompi_collective_side *side, struct gompi_span *p) {
	struct gompi_buffer b;
	return buffer_of(&b, side->buf, side->count, side->type) && make_recv_span(m, &b, p);
}

// Adds the copy of the block that this member sends to itself. The copy runs when the collective starts. If the lengths
// differ, sets argument_error instead. The collective then still runs, because the other members need this member, and
// reports the error on completion. Returns false if both ranges are the same memory, or if out of memory.
static bool copy_self_block(struct nbc_builder *m, struct gompi_span from, struct gompi_span *to) {
	if (from.bytes > 0 && from.at == to->at)
		return false;
	if (from.bytes == to->bytes)
		return copy_at_start(m, from, *to);
	bool longer = from.bytes > to->bytes;
	gompi_set_error(&m->s->argument_error, longer ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
			longer ? "rank %d sends %llu bytes to itself, but expects to receive only %llu"
			       : "rank %d sends %llu bytes to itself, but expects to receive %llu",
			m->me, (unsigned long long)from.bytes, (unsigned long long)to->bytes);
	return true;
}

static void discard_all(struct nbc_builder *m, struct gompi_span *blocks, uint64_t bytes) {
	for (int i = 0; i < m->n; i++)
		blocks[i] = (struct gompi_span){NULL, bytes};
}

static bool has_argument_error(const struct nbc_builder *m) { return m->s->argument_error.class != MPI_SUCCESS; }

static bool make_bcast(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	bool root = m->me == m->a->root;
	if (gompi_is_in_place(m->a->recv.buf))
		return false;
	if (!(root ? make_send_side(m, &m->a->recv, &p->in) : make_recv_side(m, &m->a->recv, &p->out)))
		return false;
	m->s->bytes = root ? p->in.bytes : p->out.bytes;
	return true;
}

// Fills in the phase of a gather or allgather, with equal blocks or with blocks of individual sizes.
static bool make_gather(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	const struct gompi_collective *a = m->a;
	bool all = a->kind == GOMPI_ALLGATHER || a->kind == GOMPI_ALLGATHERV, receives = all || m->me == a->root;
	bool uses_in_place = gompi_is_in_place(a->send.buf);
	enum gompi_shape shape = gompi_recv_shape(a->kind);
	if (receives && (gompi_is_in_place(a->recv.buf) ||
			 !make_blocks(m, shape, &a->recv, make_recv_span, uses_in_place ? m->me : -1, p->outs)))
		return false;
	if (uses_in_place) {
		struct gompi_buffer b;
		if (!receives || !argument_block(m, shape, &a->recv, m->me, &b) || !make_send_span(m, &b, &p->in))
			return false;
	} else if (!make_send_side(m, &a->send, &p->in) || (receives && !copy_self_block(m, p->in, &p->outs[m->me]))) {
		return false;
	}
	m->s->bytes = p->in.bytes;
	if (has_argument_error(m) &&
	    a->kind == GOMPI_ALLGATHER) // publish the sent length in the signature; discard received data
		discard_all(m, p->outs, p->in.bytes);
	if (has_argument_error(m) && a->kind == GOMPI_GATHER)
		m->s->bytes = p->outs[m->me].bytes;
	if (!all)
		return true;
	for (int i = 0; i < m->n; i++)
		m->s->longest_bytes = m->s->longest_bytes > p->outs[i].bytes ? m->s->longest_bytes : p->outs[i].bytes;
	return true;
}

static bool make_scatter(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	const struct gompi_collective *a = m->a;
	bool root = m->me == a->root, uses_in_place = gompi_is_in_place(a->recv.buf);
	if ((uses_in_place && !root) ||
	    (root && (gompi_is_in_place(a->send.buf) || !make_send_blocks(m, &a->send, make_send_span, p->ins))) ||
	    (!uses_in_place && !make_recv_side(m, &a->recv, &p->out)) ||
	    (root && !uses_in_place && !copy_self_block(m, p->ins[m->me], &p->out)))
		return false;
	m->s->bytes = root ? p->ins[m->me].bytes : p->out.bytes;
	return true;
}

static bool make_alltoall(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	const struct gompi_collective *a = m->a;
	bool uses_in_place = gompi_is_in_place(a->send.buf);
	if (gompi_is_in_place(a->recv.buf) ||
	    !make_blocks(m, gompi_recv_shape(a->kind), &a->recv, make_recv_span, uses_in_place ? m->me : -1, p->outs))
		return false;
	// With MPI_IN_PLACE, sends copies of the blocks: received data must not overwrite blocks that have not been
	// sent.
	if (!(uses_in_place ? make_send_blocks(m, &a->recv, make_send_copy, p->ins)
			    : make_send_blocks(m, &a->send, make_send_span, p->ins)) ||
	    (!uses_in_place && !copy_self_block(m, p->ins[m->me], &p->outs[m->me])))
		return false;
	m->s->bytes = p->ins[m->me].bytes;
	if (has_argument_error(m) && a->kind == GOMPI_ALLTOALL)
		discard_all(m, p->outs, m->s->bytes);
	return true;
}

// --- Reductions

// The layout in which elements of a reduction are transferred. Elements without gaps are transferred as they are in
// memory. Predefined pair types that have a gap keep it, because the kernels expect the gap. Elements with gaps for a
// user-defined function are packed, and unpacked before the function is called.
enum element_format { ELEMENTS_AS_IS, ELEMENTS_WITH_GAPS, ELEMENTS_PACKED };

static bool make_reduction(struct nbc_builder *m, enum element_format *format) {
	const struct gompi_collective *a = m->a;
	struct gompi_reduction *r = &m->s->reduction;
	MPI_Op op = (MPI_Op)a->op;
	const struct gompi_type *t = gompi_type_get((MPI_Datatype)a->recv.type);
	if (t == NULL || t->size < 0)
		return false;
	bool is_contiguous = (t->flags & GOMPI_TYPE_CONTIGUOUS) != 0 && t->origin == 0 && t->size == t->extent;
	// A predefined type without a name, as MPI_Type_create_f90_real returns it, has a named type as element.
	const MPI_Datatype named =
		(MPI_Datatype)(gompi_type_is_basic(t) && t->elem != 0 ? (uintptr_t)t->elem : a->recv.type);
	*r = (struct gompi_reduction){.kernel = gompi_op_kernel(op, named)};
	if (r->kernel != NULL) {
		*format = is_contiguous ? ELEMENTS_AS_IS : ELEMENTS_WITH_GAPS;
		r->size = (uint64_t)(is_contiguous ? t->size : t->extent);
		return op != MPI_REPLACE && op != MPI_NO_OP;
	}
	const struct gompi_user_op *u = gompi_user_op_get(op);
	if (u == NULL)
		return false;
	*format = is_contiguous ? ELEMENTS_AS_IS : ELEMENTS_PACKED;
	r->size = t->size > 0 ? (uint64_t)t->size : 1;
	r->function = u->function, r->large = u->is_large, r->type = a->recv.type;
	if (!is_contiguous) {
		r->unpacked_type = t;
		if (m->memory == NULL)
			gompi_type_retain(t);
	}
	m->s->calls_user_op = true;
	return true;
}

// Describes in *p the operand of `count` elements at the address `at`.
static bool make_operand_span(struct nbc_builder *m, enum element_format format, uintptr_t at, int64_t count,
			      struct gompi_span *p) {
	struct gompi_buffer b;
	if (!buffer_of(&b, at, count, m->a->recv.type))
		return false;
	if (format != ELEMENTS_WITH_GAPS)
		return make_send_span(m, &b, p);
	*p = (struct gompi_span){b.size > 0 ? b.at : NULL, (uint64_t)count * m->s->reduction.size};
	return true;
}

// Describes in *p the result of `count` elements at the address `at`.
static bool make_result_span(struct nbc_builder *m, enum element_format format, uintptr_t at, int64_t count,
			     struct gompi_span *p) {
	struct gompi_buffer b;
	if (!buffer_of(&b, at, count, m->a->recv.type))
		return false;
	if (format != ELEMENTS_WITH_GAPS)
		return make_recv_span(m, &b, p);
	p->bytes = (uint64_t)count * m->s->reduction.size;
	p->at = NULL;
	if (p->bytes == 0)
		return true;
	p->at = add_packed_copy(m, &m->s->copies_out, &m->s->copies_out_count, &b, p->bytes);
	if (p->at == NULL)
		return false;
	m->s->copies_out[m->s->copies_out_count - 1].elements = count;
	return true;
}

// Returns true if the send and the receive buffer of a reduction differ or are empty.
static bool buffers_differ(const struct nbc_builder *m, int64_t count) {
	return count == 0 || m->a->send.buf != m->a->recv.buf;
}

// Splits a large reduction into two phases: each member reduces one chunk of the data, then all members, or the root,
// gather the chunks. Does nothing if the reduction is small, if there is only one member, or if an element is too large
// for a chunk. Returns false if out of memory.
static bool split_reduction(struct nbc_builder *m) {
	struct gompi_nbc_op *s = m->s;
	struct gompi_nbc_phase whole = s->phase[0], *reduce_phase = &s->phase[0], *gather_phase = &s->phase[1];
	bool receives = s->kind == GOMPI_ALLREDUCE || m->me == s->root;
	uint64_t n = (uint64_t)m->n, chunk_bytes = (s->bytes / s->reduction.size + n - 1) / n * s->reduction.size;
	if (s->bytes < (m->n > 2 ? NBC_SPLIT_MIN_BYTES : NBC_SPLIT_PAIR_MIN_BYTES) || m->n < 2 ||
	    s->reduction.size > GOMPI_NBC_BODY_BYTES / n)
		return true;
	reduce_phase->kind = GOMPI_REDUCE_SCATTER;
	gather_phase->kind = s->kind == GOMPI_ALLREDUCE ? GOMPI_ALLGATHER : GOMPI_GATHER;
	for (int i = 0; i < m->n; i++) {
		uint64_t from = gompi_min_u64((uint64_t)i * chunk_bytes, s->bytes),
			 to = gompi_min_u64(from + chunk_bytes, s->bytes);
		reduce_phase->ins[i] = (struct gompi_span){whole.in.at + from, to - from};
		gather_phase->outs[i] = (struct gompi_span){receives ? whole.out.at + from : NULL, to - from};
	}
	reduce_phase->out = gather_phase->outs[m->me];
	if (!receives && reduce_phase->out.bytes > 0) {
		s->scratch = malloc(reduce_phase->out.bytes);
		if (s->scratch == NULL)
			return false;
		reduce_phase->out.at = s->scratch;
	}
	gather_phase->in = reduce_phase->out;
	s->phases = 2;
	return true;
}

static bool make_reduce(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	const struct gompi_collective *a = m->a;
	struct gompi_nbc_op *s = m->s;
	enum element_format format;
	bool receives = a->kind == GOMPI_REDUCE ? m->me == a->root : a->kind != GOMPI_EXSCAN || m->me > 0;
	bool uses_in_place = gompi_is_in_place(a->send.buf);
	if (a->recv.count < 0 || !make_reduction(m, &format) ||
	    (uses_in_place && a->kind == GOMPI_REDUCE && !receives) || (receives && gompi_is_in_place(a->recv.buf)))
		return false;
	if (s->reduction.size > GOMPI_NBC_BODY_BYTES && m->memory == NULL) {
		m->use_messages = true;
		return false;
	}
	if (!make_operand_span(m, format, uses_in_place ? a->recv.buf : a->send.buf, a->recv.count, &p->in) ||
	    (receives && !uses_in_place && !buffers_differ(m, a->recv.count)) ||
	    (receives && !make_result_span(m, format, a->recv.buf, a->recv.count, &p->out)))
		return false;
	s->bytes = s->longest_bytes = p->in.bytes;
	if (m->memory != NULL)
		return true;
	if ((a->kind == GOMPI_REDUCE || a->kind == GOMPI_ALLREDUCE) && !split_reduction(m))
		return false;
	// Other members may read a large operand directly. If the result overwrites this operand, send a copy of it.
	if (s->phases == 1 && receives && p->in.at == p->out.at && p->in.bytes > GOMPI_NBC_BODY_BYTES / 2) {
		struct gompi_buffer b = {.at = p->in.at, .size = (int64_t)p->in.bytes};
		return make_send_copy(m, &b, &p->in);
	}
	return true;
}

static bool make_reduce_scatter(struct nbc_builder *m, struct gompi_nbc_phase *p) {
	const struct gompi_collective *a = m->a;
	struct gompi_nbc_op *s = m->s;
	enum element_format format;
	bool uses_in_place = gompi_is_in_place(a->send.buf), has_counts = a->kind == GOMPI_REDUCE_SCATTER;
	int64_t all = 0, mine = a->recv.count;
	if ((has_counts && a->recv.counts == 0) || gompi_is_in_place(a->recv.buf) || !make_reduction(m, &format))
		return false;
	if (s->reduction.size > GOMPI_NBC_BODY_BYTES / (uint64_t)m->n && m->memory == NULL) {
		m->use_messages = true;
		return false;
	}
	const uint64_t element = gompi_type_get((MPI_Datatype)a->recv.type)->size > 0 ? s->reduction.size : 0;
	for (int i = 0; i < m->n; i++) {
		int64_t count = has_counts ? gompi_array_element(a->recv.counts, a->is_large, i) : a->recv.count;
		if (count < 0 || __builtin_add_overflow(all, count, &all) ||
		    all > GOMPI_MAX_BLOCK_BYTES / (int64_t)s->reduction.size)
			return false;
		p->ins[i].bytes = (uint64_t)count * element;
		if (i == m->me)
			mine = count;
		s->longest_bytes = s->longest_bytes > p->ins[i].bytes ? s->longest_bytes : p->ins[i].bytes;
	}
	if (!make_operand_span(m, format, uses_in_place ? a->recv.buf : a->send.buf, all, &p->in) ||
	    (!uses_in_place && !buffers_differ(m, mine)) || !make_result_span(m, format, a->recv.buf, mine, &p->out))
		return false;
	// The result must not overwrite this member's operand before all members have read it. So compute it in private
	// memory and copy it at the end.
	if (uses_in_place && p->out.at == p->in.at && p->out.bytes > 0) {
		struct gompi_buffer b = {.at = p->out.at, .size = (int64_t)p->out.bytes};
		if ((p->out.at = add_packed_copy(m, &s->copies_out, &s->copies_out_count, &b, p->out.bytes)) == NULL)
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

static bool make_phase(struct nbc_builder *m, struct gompi_nbc_phase *p) {
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
	m->use_messages = true;
	return false;
}

// Returns the kind of the shared-memory collective that runs a call of this kind.
static int nbc_kind(int kind) {
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

struct gompi_nbc_op *gompi_nbc_op_new(const struct gompi_comm *c, const struct gompi_collective *a,
				      struct gompi_call_memory *memory, bool *use_messages) {
	size_t n = (size_t)c->size;
	struct nbc_builder m = {.a = a, .n = c->size, .me = c->rank, .memory = memory};
	*use_messages = false;
	if ((unsigned)a->root >= (unsigned)c->size)
		return NULL;
	struct gompi_nbc_op *s =
		builder_alloc(&m, sizeof *s + 4 * n * sizeof(struct gompi_span) + n * sizeof *s->peer_segments_read);
	if (s == NULL)
		return NULL;
	memset(s, 0, offsetof(struct gompi_nbc_op, zeroed_end));
	struct gompi_span *spans = (struct gompi_span *)(s + 1);
	for (int i = 0; i < 2; i++) {
		s->phase[i].ins = spans + (2 * (size_t)i) * n;
		s->phase[i].outs = spans + (2 * (size_t)i + 1) * n;
	}
	s->peer_segments_read = (uint32_t *)(spans + 4 * n);
	s->nbc = c->nbc;
	s->name = a->name;
	s->kind = s->phase[0].kind = nbc_kind(a->kind);
	s->root = a->root;
	s->reduction.size = 1;
	s->phases = 1;
	s->argument_error.class = MPI_SUCCESS;
	m.s = s;
	if (!make_phase(&m, &s->phase[0])) {
		*use_messages = m.use_messages;
		if (memory == NULL)
			gompi_nbc_op_free(s);
		return NULL;
	}
	if (s->longest_bytes == 0)
		s->longest_bytes = s->bytes;
	return s;
}

static void free_copies(struct gompi_nbc_copy *list, int n) {
	for (int i = 0; i < n; i++) {
		if (!list[i].owns_packed)
			continue;
		free(list[i].packed);
		gompi_buffer_release(&list[i].user);
	}
	free(list);
}

void gompi_nbc_op_free(struct gompi_nbc_op *s) {
	free_copies(s->copies_in, s->copies_in_count);
	free_copies(s->copies_out, s->copies_out_count);
	if (s->reduction.unpacked_type != NULL)
		gompi_type_release(s->reduction.unpacked_type);
	free(s->scratch);
	free(s->idup);
	free(s);
}

void gompi_nbc_op_pack(struct gompi_nbc_op *s) {
	for (int i = 0; i < s->copies_in_count; i++)
		gompi_buffer_pack(&s->copies_in[i].user, s->copies_in[i].packed, 0, s->copies_in[i].user.size);
}

void gompi_nbc_op_unpack(struct gompi_nbc_op *s) {
	for (int i = 0; i < s->copies_out_count; i++) {
		struct gompi_nbc_copy *t = &s->copies_out[i];
		if (t->elements == 0)
			gompi_buffer_unpack(&t->user, 0, t->packed, t->user.size);
		else
			gompi_typed_copy(t->user.at, t->elements, t->user.type, t->packed, t->elements, t->user.type);
	}
}
