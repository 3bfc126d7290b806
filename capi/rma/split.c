// Splits operations whose target memory is not uniform: attached regions of a dynamic window, and memory of which only
// a range is mapped in this process.
#include "rma/checked.h"

#include "transport/transport.h"
#include "win/attached.h"

bool gompi_direct_part(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size, char **address,
		       int64_t *bytes) {
	return w != NULL && gompi_direct_here(w, rank, disp, count, size, address, bytes);
}

int gompi_each_region(const struct gompi_checked *c, gompi_at_target *f, const char *origin, char *result) {
	bool elements = gompi_is_accumulate(c->r), in_order = gompi_puts_in_order(c);
	const struct gompi_type *unit = gompi_type_get(elements ? c->element : MPI_BYTE);
	int64_t n, at, all = elements ? c->elements * unit->extent : c->bytes, gap = unit->extent - unit->true_ub;
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, elements ? GOMPI_ELEMENTS : GOMPI_BYTES);
	for (; all > 0 && (n = gompi_cursor_next(&cursor, all, &at)) > 0;) {
		for (int64_t done; n > 0; n -= done, all -= done, at += done) {
			struct gompi_checked part = *c;
			part.scattered = false;
			uint64_t from = c->target.offset + (uint64_t)at, end;
			char *here;
			int rc = gompi_attached_find_some(c->w, c->r->target, from, from + (uint64_t)(n - gap), &here,
							  &end);
			if (rc != MPI_SUCCESS)
				return rc;
			part.elements = ((int64_t)(end - from) + gap) / unit->extent;
			if (part.elements == 0)
				return MPI_ERR_RMA_RANGE;
			part.bytes = done = part.elements * unit->extent;
			part.target = (struct gompi_buffer){.offset = from, .count = part.elements, .type = unit};
			part.mapped = here != NULL;
			if (part.mapped)
				part.target.at = here;
			if (f == NULL)
				continue;
			rc = f(&part, origin, result);
			if (rc == MPI_SUCCESS && in_order)
				rc = gompi_flush(c->w, c->r->target, c->r->call);
			if (rc != MPI_SUCCESS)
				return rc;
			origin = origin != NULL ? origin + done : NULL;
			result = result != NULL ? result + done : NULL;
		}
	}
	return MPI_SUCCESS;
}
