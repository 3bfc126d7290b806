// The blocking collectives of equal blocks where the data of a member does not lie together: it is packed before, and
// what comes is unpacked behind.
#include <stdlib.h>

#include "coll/entry.h"

// A side of a call: blocks of count copies of a type, one or for each member.
struct packed_side {
	const struct gompi_type *type;
	char *buf;
	int64_t count, blocks; // copies in a block; 0 blocks: it does not count here
	int64_t bytes;         // of a block
	char *at;              // the bytes of all
	bool lies;             // in the application's memory
};

// false: Go is to look at it.
static bool packed_side(struct packed_side *p, const struct gompi_side *s, int64_t blocks) {
	int64_t all, lo, hi;
	*p = (struct packed_side){.type = gompi_type_get((MPI_Datatype)s->type), .buf = (char *)s->buf};
	p->count = s->count, p->blocks = blocks;
	if (p->type == NULL || !gompi_type_bytes(p->type, s->count, &p->bytes) || p->bytes > GOMPI_MOST_BLOCK ||
	    __builtin_mul_overflow(s->count, blocks, &all) || !gompi_type_bounds(p->type, all, &lo, &hi))
		return false;
	p->lies = (p->type->flags & GOMPI_TYPE_CONTIGUOUS) != 0;
	if (p->lies)
		p->at = p->buf + p->type->origin;
	return p->bytes == 0 || (!gompi_invalid_address(p->buf, lo) && s->buf + (uint64_t)lo < s->buf + (uint64_t)hi);
}

static uint64_t room_of(const struct packed_side *p) {
	return p->lies ? 0 : (uint64_t)(p->bytes * p->blocks + 63) & ~(uint64_t)63;
}

// The application's block i.
static char *block_of(const struct packed_side *p, int i) { return p->buf + i * p->count * p->type->extent; }

static void pack_blocks(const struct packed_side *p, int from, int64_t blocks) {
	if (!p->lies && p->bytes > 0 && blocks > 0)
		gompi_typed_pack(p->at + from * p->bytes, blocks * p->bytes, block_of(p, from), blocks * p->count,
				 p->type, 0);
}

// Returns true if the root has a block for each member on a side of a call, or one; and who has a side.
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
	if (in.type != NULL && out.type != NULL) {
		const char *from = sent > 1 ? block_of(&in, me) : in.buf,
			   *to = received > 1 ? block_of(&out, me) : out.buf;
		if (in.bytes != out.bytes || from == to)
			goto go;
	}
	char few[4 * GOMPI_SLOT_SMALL], *memory = few;
	uint64_t room = room_of(&in) + room_of(&out);
	if (room > sizeof few && (memory = malloc(room)) == NULL)
		goto go;
	if (in.type != NULL && !in.lies)
		in.at = memory;
	if (out.type != NULL && !out.lies)
		out.at = memory + room_of(&in);
	struct gompi_slots_call c = {.kind = kind, .root = root, .name = name};
	c.bytes = (uint64_t)(in.type != NULL ? in.bytes : out.bytes);
	pack_blocks(&in, 0, in.blocks);
	if (in_place && !backwards)
		pack_blocks(&out, kind == GOMPI_ALLTOALL ? 0 : me, kind == GOMPI_ALLTOALL ? received : 1);
	char *own = out.at + me * out.bytes;
	c.in = in.type != NULL ? in.at : own;
	c.out = out.type != NULL ? out.at : in.at + me * in.bytes;
	c.ins = (struct gompi_blocks){in.type != NULL ? in.at : out.at, c.bytes, NULL};
	c.outs = (struct gompi_blocks){out.at, c.bytes, NULL};
	if (kind == GOMPI_BCAST && is_root)
		pack_blocks(&out, 0, 1);
	int rc = gompi_slots_run(t, &c);
	if (rc == GOMPI_SLOTS_DONE && out.type != NULL && !out.lies && out.bytes > 0 &&
	    !(kind == GOMPI_BCAST && is_root))
		gompi_typed_unpack(out.buf, out.blocks * out.count, out.type, 0, out.at, out.blocks * out.bytes);
	if (memory != few)
		free(memory);
	return rc == GOMPI_SLOTS_DONE ? MPI_SUCCESS : gompi_slots_refused(rc, &c, comm);
go:
	return gompi_collective_to_go(name, kind, send, recv, false, 0, root, comm);
}
