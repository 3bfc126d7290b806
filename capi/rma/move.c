// Put and get of any datatypes.
#include "rma/checked.h"

#include <stdlib.h>
#include <string.h>

#include "transport/transport.h"

__attribute__((noipa)) int gompi_copy_bytes(void *to, const void *from, int64_t bytes) {
	memmove(to, from, (size_t)bytes);
	return MPI_SUCCESS;
}

// Moves bytes between local and the target by its transport.
static int send_move(const struct gompi_checked *c, const struct gompi_place *at, char *local, int64_t bytes) {
	return gompi_transport_to(c->w, c->r->target)->move(c->w, c->r, at, local, bytes);
}

// Moves bytes between local and the target's buffer, of which part can be addressed here: that part by a copy, the rest
// through the ring path.
static int move_part(const struct gompi_checked *c, char *local, bool put) {
	bool in_order = gompi_puts_in_order(c);
	const struct gompi_part *p = c->part;
	char *base = c->w->targets[c->r->target].base;
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, GOMPI_BYTES);
	for (int64_t done = 0, n, offset;
	     done < c->bytes && (n = gompi_cursor_next(&cursor, c->bytes - done, &offset)) > 0; done += n) {
		uint64_t at = c->offset + (uint64_t)offset, end = at + (uint64_t)n;
		uint64_t first = at_most(at_least(at, p->from), end);
		const uint64_t border[] = {at, first, at_least(at_most(end, p->to), first), end};
		for (int i = 0; i < 3; i++) {
			uint64_t from = border[i], bytes = border[i + 1] - from;
			char *mine = local + done + (from - at);
			if (bytes == 0)
				continue;
			int rc = MPI_SUCCESS;
			if (i == 1)
				memmove(put ? base + from : mine, put ? mine : base + from, bytes);
			else
				rc = send_move(c,
					       &(struct gompi_place){.offset = from,
								     .count = (int64_t)bytes,
								     .type = gompi_type_get(MPI_BYTE)},
					       mine, (int64_t)bytes);
			if (rc == MPI_SUCCESS && in_order)
				rc = gompi_flush(c->w, c->r->target, c->r->call);
			if (rc != MPI_SUCCESS)
				return rc;
		}
	}
	return MPI_SUCCESS;
}

// Moves one contiguous buffer on this side from or to the target.
static int move_at_target(const struct gompi_checked *c, const char *origin, char *result) {
	if (c->scattered)
		return gompi_each_region(c, move_at_target, origin, result);
	bool put = c->r->kind == RMA_PUT;
	const struct gompi_checked_side *target = &c->target;
	if (c->part != NULL)
		return move_part(c, put ? (char *)(uintptr_t)origin : result, put);
	if (target->address == NULL)
		return send_move(
			c, &(struct gompi_place){.offset = c->offset, .count = target->count, .type = target->type},
			put ? (char *)(uintptr_t)origin : result, c->bytes);
	if (put)
		memmove(target->address, origin, (size_t)c->bytes);
	else
		memmove(result, target->address, (size_t)c->bytes);
	return MPI_SUCCESS;
}

int gompi_do_move(const struct gompi_checked *c) {
	if (c->bytes == 0)
		return MPI_SUCCESS;
	bool put = c->r->kind == RMA_PUT;
	const struct gompi_checked_side *mine = put ? &c->origin : &c->result, *target = &c->target;
	if (target->address != NULL) {
		const struct gompi_checked_side *to = put ? target : mine, *from = put ? mine : target;
		if (to->type->flags & from->type->flags & GOMPI_TYPE_CONTIGUOUS)
			memmove(to->address + to->type->origin, from->address + from->type->origin, (size_t)c->bytes);
		else
			gompi_typed_copy(to->address, to->count, to->type, from->address, from->count, from->type);
		return MPI_SUCCESS;
	}
	char *temporary = NULL, *local;
	if (mine->type->flags & GOMPI_TYPE_CONTIGUOUS) {
		local = mine->address + mine->type->origin;
	} else if ((local = temporary = malloc((size_t)c->bytes)) == NULL) {
		return MPI_ERR_NO_MEM;
	} else if (put) {
		gompi_typed_pack(local, c->bytes, mine->address, mine->count, mine->type, 0);
	}
	int rc = move_at_target(c, put ? local : NULL, put ? NULL : local);
	if (rc == MPI_SUCCESS && temporary != NULL && !put)
		gompi_typed_unpack(mine->address, mine->count, mine->type, 0, local, c->bytes);
	free(temporary);
	return rc;
}
