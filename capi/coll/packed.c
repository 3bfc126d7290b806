// Blocking collectives with equal blocks, at members whose data is not contiguous. The data is packed before the call,
// and unpacked after it.
#include <stdlib.h>

#include "coll/blocks.h"

// One side of a call: one block, or one for each member, side by side. buffer.type is NULL if the side is not
// significant at this member.
struct packed_side {
	struct gompi_buffer buffer;
	int64_t count, block_bytes; // elements and bytes of one block
	char *packed;               // packed data of all blocks
	bool is_contiguous;         // the application's data is contiguous; `packed` points to it
};

// Describes a side with this number of blocks. Returns false if Go must run the call.
static bool packed_side(struct packed_side *p, const struct gompi_collective_side *s, int64_t blocks) {
	const struct gompi_type *t = gompi_type_get((MPI_Datatype)s->type);
	int64_t elements, lo, hi;
	*p = (struct packed_side){.count = s->count};
	if (t == NULL || !gompi_type_bytes(t, s->count, &p->block_bytes) || p->block_bytes > GOMPI_MAX_BLOCK_BYTES ||
	    __builtin_mul_overflow(s->count, blocks, &elements) || !gompi_type_bounds(t, elements, &lo, &hi))
		return false;
	p->buffer = (struct gompi_buffer){
		.at = (char *)s->buf, .size = p->block_bytes * blocks, .count = elements, .type = t};
	p->is_contiguous = (t->flags & GOMPI_TYPE_CONTIGUOUS) != 0;
	if (p->is_contiguous)
		p->packed = p->buffer.at + t->origin;
	return p->block_bytes == 0 ||
	       (!gompi_invalid_address(p->buffer.at, lo) && s->buf + (uint64_t)lo < s->buf + (uint64_t)hi);
}

static uint64_t packed_bytes(const struct packed_side *p) {
	return p->is_contiguous ? 0 : (uint64_t)(p->buffer.size + 63) & ~(uint64_t)63;
}

// Returns the application's block i.
static char *block_of(const struct packed_side *p, int i) {
	return p->buffer.at + i * p->count * p->buffer.type->extent;
}

static void pack_blocks(const struct packed_side *p, int from, int64_t blocks) {
	if (!p->is_contiguous && p->block_bytes > 0 && blocks > 0)
		gompi_buffer_pack(&p->buffer, p->packed + from * p->block_bytes, from * p->block_bytes,
				  blocks * p->block_bytes);
}

// Returns the number of blocks that this member sends, or 0 if the send side is not significant at this member.
// blocks_received returns the same for the receive side.
static int64_t blocks_sent(int kind, bool root, int n) {
	return kind == GOMPI_BCAST ? 0 : kind == GOMPI_SCATTER ? (root ? n : 0) : kind == GOMPI_ALLTOALL ? n : 1;
}

static int64_t blocks_received(int kind, bool root, int n) {
	return kind == GOMPI_GATHER ? (root ? n : 0) : kind == GOMPI_BCAST || kind == GOMPI_SCATTER ? 1 : n;
}

int gompi_run_packed(const struct gompi_collective *a) {
	const int kind = a->kind, root = a->root;
	struct gompi_shm_coll *t = gompi_shm_coll_for((MPI_Comm)a->comm, kind);
	if (t == NULL || (unsigned)root >= (unsigned)t->n)
		goto go;
	const int me = t->me;
	const bool is_root = me == root, is_scatter = kind == GOMPI_SCATTER;
	int64_t sent = blocks_sent(kind, is_root, t->n), received = blocks_received(kind, is_root, t->n);
	const bool in_place = gompi_is_in_place(is_scatter ? a->recv.buf : a->send.buf) && sent > 0;
	struct packed_side in = {0}, out = {0};
	if (!in_place && (gompi_is_in_place(a->send.buf) || gompi_is_in_place(a->recv.buf)))
		goto go;
	if (in_place && (is_scatter ? sent == 0 : received == 0))
		goto go;
	if (sent > 0 && (!in_place || is_scatter) && !packed_side(&in, &a->send, sent))
		goto go;
	if (received > 0 && (!in_place || !is_scatter) && !packed_side(&out, &a->recv, received))
		goto go;
	if (in.buffer.type != NULL && out.buffer.type != NULL) {
		const char *from = sent > 1 ? block_of(&in, me) : in.buffer.at,
			   *to = received > 1 ? block_of(&out, me) : out.buffer.at;
		if (in.block_bytes != out.block_bytes || from == to)
			goto go;
	}
	char stack_buffer[4 * GOMPI_SHM_SMALL_BYTES], *memory = stack_buffer;
	uint64_t packed_total = packed_bytes(&in) + packed_bytes(&out);
	if (packed_total > sizeof stack_buffer && (memory = malloc(packed_total)) == NULL)
		goto go;
	if (in.buffer.type != NULL && !in.is_contiguous)
		in.packed = memory;
	if (out.buffer.type != NULL && !out.is_contiguous)
		out.packed = memory + packed_bytes(&in);
	struct gompi_coll_call c = {.kind = kind, .root = root, .name = a->name};
	c.bytes = (uint64_t)(in.buffer.type != NULL ? in.block_bytes : out.block_bytes);
	pack_blocks(&in, 0, sent);
	if (in_place && !is_scatter)
		pack_blocks(&out, kind == GOMPI_ALLTOALL ? 0 : me, kind == GOMPI_ALLTOALL ? received : 1);
	char *self_block = out.packed + me * out.block_bytes;
	c.in = in.buffer.type != NULL ? in.packed : self_block;
	c.out = out.buffer.type != NULL ? out.packed : in.packed + me * in.block_bytes;
	c.ins = (struct gompi_blocks){in.buffer.type != NULL ? in.packed : out.packed, c.bytes, NULL};
	c.outs = (struct gompi_blocks){out.packed, c.bytes, NULL};
	if (kind == GOMPI_BCAST && is_root)
		pack_blocks(&out, 0, 1);
	int rc = gompi_shm_run(t, &c);
	if (rc == GOMPI_COLL_DONE && out.buffer.type != NULL && !out.is_contiguous && out.block_bytes > 0 &&
	    !(kind == GOMPI_BCAST && is_root))
		gompi_buffer_unpack(&out.buffer, 0, out.packed, out.buffer.size);
	if (memory != stack_buffer)
		free(memory);
	return rc == GOMPI_COLL_DONE ? MPI_SUCCESS : gompi_shm_raise(rc, &c, (MPI_Comm)a->comm);
go:
	return gompi_go_callbacks.run_collective(a);
}
