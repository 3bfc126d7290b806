// MPI_Accumulate, MPI_Get_accumulate and their request-based forms (MPI-5.0 12.3.4, 12.3.5).
#include "rma/rma.h"
#include "update/update.h"
#include "rma/z_calls.h"

// Updates one or two elements in memory that is mapped in this process. Returns false if the slow path must handle the
// call. The buffers must be in memory. MPI_NO_OP ignores the origin; result is NULL for MPI_Accumulate. This is the
// fast path, which calls only the kernel.
static inline __attribute__((always_inline)) bool accumulate_few(struct gompi_win *w, int target, MPI_Aint disp,
								 const void *origin, void *result, MPI_Count count,
								 MPI_Datatype type, MPI_Op op) {
	int64_t bytes, size = gompi_simple_bytes(type);
	char *to;
	// Zero bytes mean that the type is not simple, or that there are no elements. The slow path handles both, and
	// counts the latter.
	if (__builtin_expect(!gompi_atomic_is_fastest(count, size) ||
				     !gompi_resolve_direct(w, target, disp, count, size, &to, &bytes) || bytes == 0,
			     0))
		return false;
	gompi_atomic_kernel kernel = gompi_atomic_kernel_simple(op, type);
	if (__builtin_expect(kernel == NULL || !gompi_is_aligned(to, size) ||
				     !gompi_atomic_update_begin(gompi_member(w, target)),
			     0))
		return false;
	kernel(origin, to, result, (size_t)count);
	gompi_unlocked_update_end();
	return true;
}

// Updates any number of contiguous elements of any predefined type: all other cases that need no slow path. Returns
// false if the slow path must handle the call.
static inline __attribute__((always_inline)) bool accumulate_contiguous(struct gompi_win *w, int target, MPI_Aint disp,
									const void *origin, void *result,
									MPI_Count count, MPI_Datatype type, MPI_Op op) {
	const struct gompi_type *t = gompi_type_get(type);
	int64_t bytes;
	char *to;
	return t != NULL && !gompi_type_is_freeable(t) &&
	       (gompi_resolve_direct(w, target, disp, count, t->extent, &to, &bytes) ||
		gompi_resolve_partial_slow(w, target, disp, count, t->extent, &to, &bytes)) &&
	       bytes != 0 && gompi_update_contiguous(w, target, to, origin, result, count, type, op);
}

// Converts count and type to elements of a predefined type, if copies of the datatype consist of contiguous elements
// that begin at the buffer's address. Otherwise changes nothing.
static inline void to_elements(MPI_Count *count, MPI_Datatype *type) {
	const struct gompi_type *t = gompi_type_get(*type);
	MPI_Count n;
	if (t == NULL || !gompi_type_is_freeable(t) || t->elem == 0 || !(t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) ||
	    t->elem_origin != 0 || __builtin_mul_overflow(*count, t->elements, &n))
		return;
	*count = n;
	*type = (MPI_Datatype)(uintptr_t)t->elem;
}

// Returns true if the arguments of MPI_Get_accumulate are the same on all sides and the buffers are in memory. With
// MPI_NO_OP the origin's three arguments are ignored.
static inline bool arguments_match(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
				   void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
				   MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op) {
	return result_datatype == target_datatype && result_count == target_count &&
	       !gompi_invalid_address(result_addr, 0) &&
	       (op == MPI_NO_OP || (origin_datatype == target_datatype && origin_count == target_count &&
				    !gompi_invalid_address(origin_addr, 0)));
}

static __attribute__((noipa)) int accumulate_slow(const void *origin_addr, MPI_Count origin_count,
						  MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
						  MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
						  MPI_Win win) {
	MPI_Count count = origin_count, target_n = target_count;
	MPI_Datatype type = origin_datatype, target_elem = target_datatype;
	to_elements(&count, &type);
	to_elements(&target_n, &target_elem);
	if (type == target_elem && count == target_n && op != MPI_NO_OP && !gompi_invalid_address(origin_addr, 0) &&
	    accumulate_contiguous(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, count, type, op))
		return MPI_SUCCESS;
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_ACCUMULATE,
							     .call = "MPI_Accumulate",
							     .origin = origin_addr,
							     .origin_count = origin_count,
							     .origin_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .op = op,
							     .win = win});
}

int gompi_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		       MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
		       MPI_Win win) {
	if (__builtin_expect(origin_datatype == target_datatype && origin_count == target_count && op != MPI_NO_OP &&
				     !gompi_invalid_address(origin_addr, 0),
			     1) &&
	    accumulate_few(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, target_count,
			   target_datatype, op))
		return MPI_SUCCESS;
	return accumulate_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			       target_datatype, op, win);
}
GOMPI_ENTRY(MPI_Accumulate_c, gompi_accumulate_c);

int gompi_raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
			MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			MPI_Win win, MPI_Request *request) {
	if (request != NULL && origin_datatype == target_datatype && origin_count == target_count && op != MPI_NO_OP &&
	    !gompi_invalid_address(origin_addr, 0) &&
	    accumulate_few(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, target_count,
			   target_datatype, op)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_ACCUMULATE,
							     .returns_request = true,
							     .request = request,
							     .call = "MPI_Raccumulate",
							     .origin = origin_addr,
							     .origin_count = origin_count,
							     .origin_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .op = op,
							     .win = win});
}
GOMPI_ENTRY(MPI_Raccumulate_c, gompi_raccumulate_c);

static struct gompi_operation describe_get_accumulate(const void *origin_addr, MPI_Count origin_count,
						      MPI_Datatype origin_datatype, void *result_addr,
						      MPI_Count result_count, MPI_Datatype result_datatype,
						      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
						      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	return (struct gompi_operation){.kind = RMA_GET_ACCUMULATE,
					.call = "MPI_Get_accumulate",
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
}

static __attribute__((noipa)) int get_accumulate_slow(const void *origin_addr, MPI_Count origin_count,
						      MPI_Datatype origin_datatype, void *result_addr,
						      MPI_Count result_count, MPI_Datatype result_datatype,
						      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
						      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	MPI_Count count = origin_count, result_n = result_count, target_n = target_count;
	MPI_Datatype type = origin_datatype, result_elem = result_datatype, target_elem = target_datatype;
	to_elements(&count, &type);
	to_elements(&result_n, &result_elem);
	to_elements(&target_n, &target_elem);
	if (arguments_match(origin_addr, count, type, result_addr, result_n, result_elem, target_n, target_elem, op) &&
	    accumulate_contiguous(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, target_n,
				  target_elem, op))
		return MPI_SUCCESS;
	struct gompi_operation r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
							   result_count, result_datatype, target_rank, target_disp,
							   target_count, target_datatype, op, win);
	return gompi_rma_slow_path(&r);
}

int gompi_get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			   void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
			   MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			   MPI_Win win) {
	if (__builtin_expect(arguments_match(origin_addr, origin_count, origin_datatype, result_addr, result_count,
					     result_datatype, target_count, target_datatype, op),
			     1) &&
	    accumulate_few(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, target_count,
			   target_datatype, op))
		return MPI_SUCCESS;
	return get_accumulate_slow(origin_addr, origin_count, origin_datatype, result_addr, result_count,
				   result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}
GOMPI_ENTRY(MPI_Get_accumulate_c, gompi_get_accumulate_c);

int gompi_rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			    void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
			    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			    MPI_Win win, MPI_Request *request) {
	if (request != NULL &&
	    arguments_match(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
			    target_count, target_datatype, op) &&
	    accumulate_few(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, target_count,
			   target_datatype, op)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_operation r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
							   result_count, result_datatype, target_rank, target_disp,
							   target_count, target_datatype, op, win);
	r.returns_request = true;
	r.request = request;
	r.call = "MPI_Rget_accumulate";
	return gompi_rma_slow_path(&r);
}
GOMPI_ENTRY(MPI_Rget_accumulate_c, gompi_rget_accumulate_c);
