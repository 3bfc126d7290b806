// Puts, gets and accumulates that the fast path does not handle, if their arguments are valid and they can complete at
// once. Examples are derived datatypes, partly mapped memory, any number of elements, and short puts over the network.
// Also sends puts and gets of predefined types to memory that is not mapped.
// gompi_rma_slow_path handles all other calls.
#include "base/poll.h"
#include "datatype/buffer.h"
#include "rma/rma.h"
#include "transport/transport.h"
#include "update/update.h"
#include "win/counts.h"

bool gompi_resolve_partial(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size, char **at,
			   int64_t *bytes) {
	int64_t offset;
	if (w == NULL || w->mapped_ranges == NULL || (uint32_t)rank >= w->n)
		return false;
	struct gompi_target *t = &w->targets[rank];
	const struct gompi_mapped_range p = gompi_mapped_range_of(w, rank);
	if (!(gompi_load_or(&w->access, &t->state) & TARGET_ACCESS) ||
	    __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
	    __builtin_mul_overflow(count, size, bytes) || *bytes <= 0)
		return false;
	*at = t->base + offset;
	return offset >= (int64_t)p.from && offset <= (int64_t)p.to && (uint64_t)*bytes <= p.to - (uint64_t)offset;
}

// Puts at most GOMPI_SHORT_PUT_BYTES of a simple type (predefined, without gaps) to a member on another node. Returns
// false, without any effect, in all other cases.
static bool put_remote(struct gompi_win *w, const void *origin, int target, MPI_Aint disp, MPI_Count count,
		       int64_t size) {
	int64_t offset, bytes;
	if (w->remote == NULL || (uint32_t)target >= w->n)
		return false;
	const struct gompi_win_remote *member = &w->remote[target];
	uint32_t state = gompi_load(&w->targets[target].state);
	if ((state & TARGET_LOCAL) || !((gompi_load(&w->access) | state) & TARGET_ACCESS) ||
	    __builtin_mul_overflow((int64_t)disp, (int64_t)member->disp_unit, &offset) ||
	    __builtin_mul_overflow((int64_t)count, size, &bytes) || bytes <= 0 || bytes > GOMPI_SHORT_PUT_BYTES)
		return false;
	// The conversion to uint64_t makes negative offsets huge, so that the comparison rejects them. In a dynamic
	// window all sizes are 0, because only the target knows which memory is attached.
	if ((uint64_t)offset > member->size || (uint64_t)bytes > member->size - (uint64_t)offset ||
	    !gompi_put_short(w, target, (uint64_t)offset, origin, (uint64_t)bytes))
		return false;
	gompi_count_operation(w, RMA_PUT, MPIX_GOMPIRMA_NETWORK, (uint64_t)bytes);
	return true;
}

// Executes a put or get of a simple type (predefined, without gaps) if the target's buffer is in the mapped range of
// the target's memory. Returns true if it has executed the call.
static bool copy_partial(struct gompi_win *w, bool put, char *local, int rank, MPI_Aint disp, MPI_Count count,
			 int64_t size) {
	int64_t bytes;
	char *at;
	return gompi_resolve_partial(w, rank, disp, count, size, &at, &bytes) &&
	       gompi_copy_bytes(put ? at : local, put ? local : at, bytes) == MPI_SUCCESS;
}

// Looks up one side of a put or get: its type, the size of its data and the bounds of the bytes that it accesses.
// Returns false if an argument is invalid.
static inline bool look_up_side(struct gompi_buffer *s, MPI_Count count, MPI_Datatype datatype, int64_t *lo,
				int64_t *hi) {
	s->type = gompi_type_get(datatype);
	s->count = count;
	s->skip_bytes = 0;
	return s->type != NULL && gompi_type_bytes(s->type, count, &s->size) &&
	       gompi_type_bounds(s->type, count, lo, hi);
}

// Executes a put or get of any datatypes if the arguments are valid and all of the target's memory is mapped in this
// process. Returns true if it has executed the call. Does not support dynamic windows.
static bool move_typed(struct gompi_win *w, bool put, const void *address, MPI_Count local_count,
		       MPI_Datatype local_type, int rank, MPI_Aint disp, MPI_Count target_count,
		       MPI_Datatype target_type) {
	struct gompi_buffer local, target;
	int64_t lo, hi, offset, from, to;
	if ((uint32_t)rank >= w->n || w->attached != NULL)
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

// Executes a put or get of a simple type to memory that is not mapped: does what gompi_rma_slow_path does for valid
// arguments. The buffer `local` of this process has elements of `size` bytes. Does not support dynamic windows and
// partly mapped memory. Returns true if it has executed the call, and then stores its result in *rc.
static bool send_simple(struct gompi_win *w, struct gompi_operation *r, char *local, int64_t size, int *rc) {
	int64_t offset, bytes;
	if ((uint32_t)r->target >= w->n || w->attached != NULL || w->mapped_ranges != NULL)
		return false;
	const struct gompi_target *t = &w->targets[r->target];
	const uint64_t window_bytes = gompi_win_bytes(w, r->target);
	if (!(gompi_load_or(&w->access, &t->state) & TARGET_ACCESS) || (gompi_load(&t->state) & TARGET_DIRECT) ||
	    __builtin_mul_overflow((int64_t)r->disp, (int64_t)gompi_win_disp_unit(w, r->target), &offset) ||
	    __builtin_mul_overflow((int64_t)r->target_count, size, &bytes) || bytes <= 0 ||
	    (uint64_t)offset > window_bytes || (uint64_t)bytes > window_bytes - (uint64_t)offset)
		return false;
	int path = MPIX_GOMPIRMA_DIRECT;
	r->call = r->kind == RMA_PUT ? "MPI_Put" : "MPI_Get", r->path = &path;
	struct gompi_buffer at;
	at.offset = (uint64_t)offset, at.size = bytes, at.count = r->target_count;
	at.type = gompi_type_get(r->target_type), at.skip_bytes = 0;
	at.type_held_by_owner = false, at.memory = GOMPI_MEMORY_HOST;
	*rc = gompi_transport_to(w, r->target)->move(w, r, &at, local, bytes);
	if (*rc == MPI_SUCCESS)
		gompi_count_operation(w, r->kind, path, (uint64_t)bytes);
	else
		*rc = gompi_rma_raise(w, r, *rc);
	return true;
}

int gompi_move_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		    enum gompi_rma_kind kind, bool returns_request, MPI_Request *request) {
	const bool put = kind == RMA_PUT, equal = origin_datatype == target_datatype && origin_count == target_count;
	const int64_t size = equal ? gompi_simple_bytes(target_datatype) : 0;
	struct gompi_win *w = gompi_win_get(win);
	char *local = (char *)(uintptr_t)origin_addr;
	if (w != NULL && !(returns_request && request == NULL) &&
	    (size == 0 ? move_typed(w, put, local, origin_count, origin_datatype, target_rank, target_disp,
				    target_count, target_datatype)
		       : !gompi_invalid_address(local, 0) &&
				 ((put && !returns_request &&
				   put_remote(w, local, target_rank, target_disp, target_count, size)) ||
				  copy_partial(w, put, local, target_rank, target_disp, target_count, size)))) {
		if (returns_request)
			*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	// All fields are assigned one by one (see gompi_checked_op_init).
	struct gompi_operation r;
	r.kind = kind, r.returns_request = returns_request, r.request = request, r.win = win, r.op = (MPI_Op)0;
	r.target = target_rank, r.disp = target_disp, r.target_count = target_count, r.target_type = target_datatype;
	r.origin = put ? local : NULL, r.result = put ? NULL : local, r.compare = NULL;
	r.origin_count = r.result_count = origin_count, r.origin_type = r.result_type = origin_datatype;
	r.rma_request = NULL, r.path = NULL, r.call = NULL;
	int rc;
	if (size != 0 && w != NULL && !returns_request && !gompi_invalid_address(local, 0) &&
	    send_simple(w, &r, local, size, &rc))
		return rc;
	return gompi_rma_slow_path(&r);
}

// Converts *count copies of a datatype to elements of a predefined type. Stores the number of elements in *count and
// returns their type. Returns a predefined datatype without a conversion. For a derived datatype, returns NULL unless
// the copies are contiguous elements that begin at the buffer's address.
static inline const struct gompi_type *to_elements(MPI_Count *count, MPI_Datatype type) {
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL || !gompi_type_is_freeable(t))
		return t;
	return t->elem != 0 && (t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) && t->elem_origin == 0 &&
			       !__builtin_mul_overflow(*count, t->elements, count)
		       ? gompi_type_get((MPI_Datatype)(uintptr_t)t->elem)
		       : NULL;
}

int gompi_accumulate_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			  int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
			  MPI_Op op, MPI_Win win, void *result_addr, MPI_Count result_count,
			  MPI_Datatype result_datatype, enum gompi_rma_kind kind, bool returns_request,
			  MPI_Request *request) {
	const bool no_op = op == MPI_NO_OP, fetch = kind == RMA_FETCH_AND_OP, has_result = kind != RMA_ACCUMULATE;
	struct gompi_win *w = gompi_win_get(win);
	MPI_Count n = target_count, origin_n = origin_count, result_n = result_count;
	int64_t bytes;
	char *to;
	const struct gompi_type *t = to_elements(&n, target_datatype);
	bool same_origin = origin_datatype == target_datatype && origin_count == target_count,
	     same_result = result_datatype == target_datatype && result_count == target_count;
	if (t != NULL && gompi_resolve_mapped(w, target_rank, target_disp, n, t->extent, &to, &bytes) &&
	    !(fetch && n != 1) && !(returns_request && request == NULL) &&
	    (no_op ? has_result
		   : !gompi_invalid_address(origin_addr, 0) &&
			     (same_origin || (to_elements(&origin_n, origin_datatype) == t && origin_n == n))) &&
	    (!has_result || (!gompi_invalid_address(result_addr, 0) &&
			     (same_result || (to_elements(&result_n, result_datatype) == t && result_n == n)))) &&
	    gompi_update_contiguous(w, target_rank, to, origin_addr, result_addr, n, (MPI_Datatype)(uintptr_t)t->elem,
				    op)) {
		int64_t size = gompi_simple_bytes(target_datatype);
		if (fetch && no_op && size != 0 && size <= 8)
			gompi_poll_check_value(to, result_addr, size);
		if (returns_request)
			*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_operation r = {.kind = kind,
				    .returns_request = returns_request,
				    .request = request,
				    .origin = origin_addr,
				    .origin_count = origin_count,
				    .origin_type = origin_datatype,
				    .result = result_addr,
				    .result_count = result_count,
				    .result_type = result_datatype,
				    .target = target_rank,
				    .disp = target_disp,
				    .target_count = target_count,
				    .target_type = target_datatype,
				    .op = op,
				    .win = win};
	return gompi_rma_slow_path(&r);
}
