// Put and get of any datatypes.
#include "rma/checked.h"

#include <stdlib.h>

#include "transport/transport.h"

// Moves bytes between local and the target through its transport.
static int send_move(const struct gompi_checked *c, const struct gompi_buffer *at, char *local, int64_t bytes) {
	return gompi_transport_to(c->w, c->r->target)->move(c->w, c->r, at, local, bytes);
}

// Moves bytes between local and the target's buffer, of which only a range is mapped: that range by a copy, the rest
// through the ring path.
static int move_part(const struct gompi_checked *c, char *local, bool put) {
	bool in_order = gompi_puts_in_order(c);
	const struct gompi_part *p = c->part;
	char *base = c->w->targets[c->r->target].base;
	const struct gompi_type *byte = gompi_type_get(MPI_BYTE);
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, GOMPI_BYTES);
	for (int64_t done = 0, n, offset;
	     done < c->bytes && (n = gompi_cursor_next(&cursor, c->bytes - done, &offset)) > 0; done += n) {
		uint64_t at = c->target.offset + (uint64_t)offset, end = at + (uint64_t)n;
		uint64_t first = at_most(at_least(at, p->from), end);
		const uint64_t border[] = {at, first, at_least(at_most(end, p->to), first), end};
		for (int i = 0; i < 3; i++) {
			uint64_t from = border[i], bytes = border[i + 1] - from;
			char *mine = local + done + (from - at);
			if (bytes == 0)
				continue;
			int rc = MPI_SUCCESS;
			struct gompi_buffer there = {.offset = from, .count = (int64_t)bytes, .type = byte};
			if (i == 1)
				gompi_copy_between(put ? base + from : mine, put ? mine : base + from, bytes);
			else
				rc = send_move(c, &there, mine, (int64_t)bytes);
			if (rc == MPI_SUCCESS && in_order)
				rc = gompi_flush(c->w, c->r->target, c->r->call);
			if (rc != MPI_SUCCESS)
				return rc;
		}
	}
	return MPI_SUCCESS;
}

// Moves data between one contiguous buffer of this process and the target.
static int move_at_target(const struct gompi_checked *c, const char *origin, char *result) {
	if (c->scattered)
		return gompi_each_region(c, move_at_target, origin, result);
	bool put = c->r->kind == RMA_PUT;
	char *local = put ? (char *)(uintptr_t)origin : result;
	if (c->part != NULL)
		return move_part(c, local, put);
	if (!c->mapped)
		return send_move(c, &c->target, local, c->bytes);
	return gompi_copy_bytes(put ? c->target.at : local, put ? local : c->target.at, c->bytes);
}

int gompi_do_move(const struct gompi_checked *c) {
	if (c->bytes == 0)
		return MPI_SUCCESS;
	bool put = c->r->kind == RMA_PUT;
	const struct gompi_buffer *mine = put ? &c->origin : &c->result, *target = &c->target;
	if (c->mapped) {
		const struct gompi_buffer *to = put ? target : mine, *from = put ? mine : target;
		if (to->type->flags & from->type->flags & GOMPI_TYPE_CONTIGUOUS)
			return gompi_copy_bytes(to->at + to->type->origin, from->at + from->type->origin, c->bytes);
		gompi_buffer_copy(to, from, c->bytes);
		return MPI_SUCCESS;
	}
	char *temporary = NULL, *local;
	if (mine->type->flags & GOMPI_TYPE_CONTIGUOUS) {
		local = mine->at + mine->type->origin;
	} else if ((local = temporary = malloc((size_t)c->bytes)) == NULL) {
		return MPI_ERR_NO_MEM;
	} else if (put) {
		gompi_buffer_pack(mine, local, 0, c->bytes);
	}
	int rc = move_at_target(c, put ? local : NULL, put ? NULL : local);
	if (rc == MPI_SUCCESS && temporary != NULL && !put)
		gompi_buffer_unpack(mine, 0, local, c->bytes);
	free(temporary);
	return rc;
}
