// Put and get of any datatypes, for valid arguments and mapped target memory: the common case of programs with their
// own datatypes. gompi_rma_slow_path handles all others.
#include "datatype/buffer.h"
#include "rma/rma.h"

// Looks up one side: its type, the size of its data and the bounds of the bytes that it accesses. Returns false if an
// argument is invalid.
static inline bool look_up_side(struct gompi_buffer *s, MPI_Count count, MPI_Datatype datatype, int64_t *lo,
				int64_t *hi) {
	s->type = gompi_type_get(datatype);
	s->count = count;
	s->skip_bytes = 0;
	return s->type != NULL && gompi_type_bytes(s->type, count, &s->size) &&
	       gompi_type_bounds(s->type, count, lo, hi);
}

bool gompi_typed_direct(struct gompi_win *w, bool put, const void *address, MPI_Count local_count,
			MPI_Datatype local_type, int rank, MPI_Aint disp, MPI_Count target_count,
			MPI_Datatype target_type) {
	struct gompi_buffer local, target;
	int64_t lo, hi, offset, from, to;
	if (w == NULL || (uint32_t)rank >= w->n || w->attached != NULL)
		return false;
	const struct gompi_target *t = &w->targets[rank];
	if (!(gompi_load_or(&w->access, &t->state) & TARGET_ACCESS) || !(gompi_load(&t->state) & TARGET_DIRECT) ||
	    !look_up_side(&local, local_count, local_type, &lo, &hi) || gompi_invalid_address(address, lo) ||
	    local.size == 0)
		return false;
	if (target_type == local_type && target_count == local_count)
		target.type = local.type, target.count = local.count, target.size = local.size, target.skip_bytes = 0;
	else if (!look_up_side(&target, target_count, target_type, &lo, &hi) || local.size != target.size)
		return false;
	if (__builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
	    __builtin_add_overflow(offset, lo, &from) || __builtin_add_overflow(offset, hi, &to) || from < 0 ||
	    (uint64_t)to > t->mapped_bytes)
		return false;
	local.at = (char *)(uintptr_t)address;
	target.at = t->base + offset;
	const struct gompi_buffer *d = put ? &target : &local, *s = put ? &local : &target;
	if (d->type->flags & s->type->flags & GOMPI_TYPE_CONTIGUOUS)
		gompi_copy_bytes(d->at + d->type->origin, s->at + s->type->origin, d->size);
	else
		gompi_buffer_copy(d, s, d->size);
	return true;
}
