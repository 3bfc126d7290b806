// Splits operations on a dynamic window into segments, each in one attached region.
#include "rma/checked.h"

#include "transport/transport.h"
#include "win/attached.h"

int gompi_for_each_region(const struct gompi_checked_op *c, gompi_target_function *f, const char *origin,
			  char *result) {
	bool elements = gompi_is_accumulate(c->args), in_order = gompi_needs_ordered_put(c);
	const struct gompi_type *unit = gompi_type_get(elements ? c->element : MPI_BYTE);
	int64_t n, at, bytes_left = elements ? c->elements * unit->extent : c->bytes,
		       gap = unit->extent - unit->true_ub;
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, elements ? GOMPI_ELEMENTS : GOMPI_BYTES);
	for (; bytes_left > 0 && (n = gompi_cursor_next(&cursor, bytes_left, &at)) > 0;) {
		for (int64_t done; n > 0; n -= done, bytes_left -= done, at += done) {
			struct gompi_checked_op segment = *c;
			segment.spans_regions = false;
			uint64_t from = c->target.offset + (uint64_t)at, end;
			char *mapped_at;
			int rc = gompi_attached_find_prefix(c->w, c->args->target, from, from + (uint64_t)(n - gap),
							    &mapped_at, &end);
			if (rc != MPI_SUCCESS)
				return rc;
			segment.elements = ((int64_t)(end - from) + gap) / unit->extent;
			if (segment.elements == 0)
				return MPI_ERR_RMA_RANGE;
			segment.bytes = done = segment.elements * unit->extent;
			segment.target = (struct gompi_buffer){.offset = from, .count = segment.elements, .type = unit};
			segment.is_mapped = mapped_at != NULL;
			if (segment.is_mapped)
				segment.target.at = mapped_at;
			if (f == NULL)
				continue;
			rc = f(&segment, origin, result);
			if (rc == MPI_SUCCESS && in_order)
				rc = gompi_flush(c->w, c->args->target, c->args->call);
			if (rc != MPI_SUCCESS)
				return rc;
			origin = origin != NULL ? origin + done : NULL;
			result = result != NULL ? result + done : NULL;
		}
	}
	return MPI_SUCCESS;
}
