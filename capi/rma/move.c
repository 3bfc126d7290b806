// Put and get of any datatypes.
#include "rma/checked.h"

#include <stdlib.h>

#include "transport/transport.h"

// Moves bytes between the buffer `local` of this process and the target's buffer, through the target's transport.
static int send_move(const struct gompi_checked_op *c, const struct gompi_buffer *at, char *local, int64_t bytes) {
	return gompi_transport_to(c->w, c->args->target)->move(c->w, c->args, at, local, bytes);
}

// Moves bytes between the buffer `local` of this process and the target's buffer, of which only a range is mapped.
// Copies the bytes in that range, and moves the other bytes through the target's transport.
static int move_partial(const struct gompi_checked_op *c, char *local, bool put) {
	bool in_order = gompi_needs_ordered_put(c);
	const struct gompi_mapped_range *p = c->partial_range;
	char *base = c->w->targets[c->args->target].base;
	const struct gompi_type *byte = gompi_type_get(MPI_BYTE);
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, GOMPI_BYTES);
	for (int64_t done = 0, n, offset;
	     done < c->bytes && (n = gompi_cursor_next(&cursor, c->bytes - done, &offset)) > 0; done += n) {
		uint64_t at = c->target.offset + (uint64_t)offset, end = at + (uint64_t)n;
		uint64_t first = gompi_min_u64(gompi_max_u64(at, p->from), end);
		const uint64_t border[] = {at, first, gompi_max_u64(gompi_min_u64(end, p->to), first), end};
		for (int i = 0; i < 3; i++) {
			uint64_t from = border[i], bytes = border[i + 1] - from;
			char *local_at = local + done + (from - at);
			if (bytes == 0)
				continue;
			int rc = MPI_SUCCESS;
			struct gompi_buffer segment = {.offset = from, .count = (int64_t)bytes, .type = byte};
			if (i == 1)
				gompi_copy_between(put ? base + from : local_at, put ? local_at : base + from, bytes);
			else
				rc = send_move(c, &segment, local_at, (int64_t)bytes);
			if (rc == MPI_SUCCESS && in_order)
				rc = gompi_flush(c->w, c->args->target, c->args->call);
			if (rc != MPI_SUCCESS)
				return rc;
		}
	}
	return MPI_SUCCESS;
}

// Moves data between one contiguous buffer of this process and the target.
static int move_at_target(const struct gompi_checked_op *c, const char *origin, char *result) {
	if (c->spans_regions)
		return gompi_for_each_region(c, move_at_target, origin, result);
	bool put = c->args->kind == RMA_PUT;
	char *local = put ? (char *)(uintptr_t)origin : result;
	if (c->partial_range != NULL)
		return move_partial(c, local, put);
	if (!c->is_mapped)
		return send_move(c, &c->target, local, c->bytes);
	return gompi_copy_bytes(put ? c->target.at : local, put ? local : c->target.at, c->bytes);
}

int gompi_execute_move(const struct gompi_checked_op *c) {
	if (c->bytes == 0)
		return MPI_SUCCESS;
	bool put = c->args->kind == RMA_PUT;
	const struct gompi_buffer *local_buffer = put ? &c->origin : &c->result, *target = &c->target;
	if (c->is_mapped) {
		const struct gompi_buffer *to = put ? target : local_buffer, *from = put ? local_buffer : target;
		if (to->type->flags & from->type->flags & GOMPI_TYPE_CONTIGUOUS)
			return gompi_copy_bytes(to->at + to->type->origin, from->at + from->type->origin, c->bytes);
		gompi_buffer_copy(to, from, c->bytes);
		return MPI_SUCCESS;
	}
	char *temporary = NULL, *local;
	if (local_buffer->type->flags & GOMPI_TYPE_CONTIGUOUS) {
		local = local_buffer->at + local_buffer->type->origin;
	} else if ((local = temporary = malloc((size_t)c->bytes)) == NULL) {
		return MPI_ERR_NO_MEM;
	} else if (put) {
		gompi_buffer_pack(local_buffer, local, 0, c->bytes);
	}
	int rc = move_at_target(c, put ? local : NULL, put ? NULL : local);
	if (rc == MPI_SUCCESS && temporary != NULL && !put)
		gompi_buffer_unpack(local_buffer, 0, local, c->bytes);
	free(temporary);
	return rc;
}
