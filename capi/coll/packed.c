// Blocking collectives with equal blocks, at members whose data is not contiguous. The data is packed before the call,
// and unpacked after it.
#include <stdlib.h>

#include "coll/entry.h"

// One side of a call: one block, or one for each member, side by side. all.type is NULL if the side is not significant
// here.
struct packed_side {
	struct gompi_buffer all;
	int64_t count, bytes; // of a block: number of elements and bytes
	char *at;             // packed data of all blocks
	bool lies;            // contiguous in the application's memory; at points there
};

// Describes a side. Returns false if the call must go through Go.
static bool packed_side(struct packed_side *p, const struct gompi_side *s, int64_t blocks) {
	const struct gompi_type *t = gompi_type_get((MPI_Datatype)s->type);
	int64_t all, lo, hi;
	*p = (struct packed_side){.count = s->count};
	if (t == NULL || !gompi_type_bytes(t, s->count, &p->bytes) || p->bytes > GOMPI_MOST_BLOCK ||
	    __builtin_mul_overflow(s->count, blocks, &all) || !gompi_type_bounds(t, all, &lo, &hi))
		return false;
	p->all = (struct gompi_buffer){.at = (char *)s->buf, .size = p->bytes * blocks, .count = all, .type = t};
	p->lies = (t->flags & GOMPI_TYPE_CONTIGUOUS) != 0;
	if (p->lies)
		p->at = p->all.at + t->origin;
	return p->bytes == 0 ||
	       (!gompi_invalid_address(p->all.at, lo) && s->buf + (uint64_t)lo < s->buf + (uint64_t)hi);
}

static uint64_t room_of(const struct packed_side *p) {
	return p->lies ? 0 : (uint64_t)(p->all.size + 63) & ~(uint64_t)63;
}

// Returns the application's block i.
static char *block_of(const struct packed_side *p, int i) { return p->all.at + i * p->count * p->all.type->extent; }

static void pack_blocks(const struct packed_side *p, int from, int64_t blocks) {
	if (!p->lies && p->bytes > 0 && blocks > 0)
		gompi_buffer_pack(&p->all, p->at + from * p->bytes, from * p->bytes, blocks * p->bytes);
}

// Returns the number of blocks that this member sends; 0 if that side is not significant here. blocks_received returns
// those that it receives.
static int64_t blocks_sent(int kind, bool root, int n) {
	return kind == GOMPI_BCAST ? 0 : kind == GOMPI_SCATTER ? (root ? n : 0) : kind == GOMPI_ALLTOALL ? n : 1;
}

static int64_t blocks_received(int kind, bool root, int n) {
	return kind == GOMPI_GATHER ? (root ? n : 0) : kind == GOMPI_BCAST || kind == GOMPI_SCATTER ? 1 : n;
}

int gompi_packed_call(const char *name, int kind, struct gompi_side send, struct gompi_side recv, int root,
		      MPI_Comm comm) {
	struct gompi_slots *t = gompi_slots_for(comm, kind);
	if (t == NULL || (unsigned)root >= (unsigned)t->n)
		goto go;
	const int me = t->me;
	const bool is_root = me == root, backwards = kind == GOMPI_SCATTER;
	int64_t sent = blocks_sent(kind, is_root, t->n), received = blocks_received(kind, is_root, t->n);
	const bool in_place = (uintptr_t)MPI_IN_PLACE == (backwards ? recv.buf : send.buf) && sent > 0;
	struct packed_side in = {0}, out = {0};
	if (!in_place && (send.buf == (uintptr_t)MPI_IN_PLACE || recv.buf == (uintptr_t)MPI_IN_PLACE))
		goto go;
	if (in_place && (backwards ? sent == 0 : received == 0))
		goto go;
	if (sent > 0 && (!in_place || backwards) && !packed_side(&in, &send, sent))
		goto go;
	if (received > 0 && (!in_place || !backwards) && !packed_side(&out, &recv, received))
		goto go;
	if (in.all.type != NULL && out.all.type != NULL) {
		const char *from = sent > 1 ? block_of(&in, me) : in.all.at,
			   *to = received > 1 ? block_of(&out, me) : out.all.at;
		if (in.bytes != out.bytes || from == to)
			goto go;
	}
	char few[4 * GOMPI_SLOT_SMALL], *memory = few;
	uint64_t room = room_of(&in) + room_of(&out);
	if (room > sizeof few && (memory = malloc(room)) == NULL)
		goto go;
	if (in.all.type != NULL && !in.lies)
		in.at = memory;
	if (out.all.type != NULL && !out.lies)
		out.at = memory + room_of(&in);
	struct gompi_slots_call c = {.kind = kind, .root = root, .name = name};
	c.bytes = (uint64_t)(in.all.type != NULL ? in.bytes : out.bytes);
	pack_blocks(&in, 0, sent);
	if (in_place && !backwards)
		pack_blocks(&out, kind == GOMPI_ALLTOALL ? 0 : me, kind == GOMPI_ALLTOALL ? received : 1);
	char *own = out.at + me * out.bytes;
	c.in = in.all.type != NULL ? in.at : own;
	c.out = out.all.type != NULL ? out.at : in.at + me * in.bytes;
	c.ins = (struct gompi_blocks){in.all.type != NULL ? in.at : out.at, c.bytes, NULL};
	c.outs = (struct gompi_blocks){out.at, c.bytes, NULL};
	if (kind == GOMPI_BCAST && is_root)
		pack_blocks(&out, 0, 1);
	int rc = gompi_slots_run(t, &c);
	if (rc == GOMPI_SLOTS_DONE && out.all.type != NULL && !out.lies && out.bytes > 0 &&
	    !(kind == GOMPI_BCAST && is_root))
		gompi_buffer_unpack(&out.all, 0, out.at, out.all.size);
	if (memory != few)
		free(memory);
	return rc == GOMPI_SLOTS_DONE ? MPI_SUCCESS : gompi_slots_refused(rc, &c, comm);
go:
	return gompi_collective_to_go(name, kind, send, recv, false, 0, root, comm);
}
