// MPI_Accumulate, MPI_Get_accumulate and their request-based forms (MPI-5.0 12.3.4, 12.3.5).
#include "rma/rma.h"
#include "update/update.h"
#include "rma/z_calls.h"

// Updates one or two elements in memory that is mapped in this process. Returns true if it has. The buffers must be in
// memory. MPI_NO_OP ignores the origin; result is NULL if there is none. This is the fast path, which calls only the
// kernel.
static inline __attribute__((always_inline)) bool singles(struct gompi_win *w, int target, MPI_Aint disp,
							  const void *origin, void *result, MPI_Count count,
							  MPI_Datatype type, MPI_Op op) {
	int64_t bytes, size = gompi_simple(type);
	char *to;
	// Zero bytes mean that the type is not simple, or that there are no elements. The slow path handles both, and
	// counts the latter.
	if (__builtin_expect(!gompi_singles(count, size) || !gompi_direct(w, target, disp, count, size, &to, &bytes) ||
				     bytes == 0,
			     0))
		return false;
	gompi_atomic_kernel kernel = gompi_atomic_simple(op, type);
	if (__builtin_expect(kernel == NULL || !gompi_aligned(to, size) ||
				     !gompi_small_enter_marked(gompi_member(w, target)),
			     0))
		return false;
	kernel(origin, to, result, (size_t)count);
	gompi_small_leave();
	return true;
}

// Updates any number of contiguous elements of any predefined type: all other cases that need no slow path. Returns
// true if it has.
static inline __attribute__((always_inline)) bool together(struct gompi_win *w, int target, MPI_Aint disp,
							   const void *origin, void *result, MPI_Count count,
							   MPI_Datatype type, MPI_Op op) {
	const struct gompi_type *t = gompi_type_get(type);
	int64_t bytes;
	char *to;
	return t != NULL && !gompi_type_mortal(t) &&
	       (gompi_direct(w, target, disp, count, t->extent, &to, &bytes) ||
		gompi_direct_part(w, target, disp, count, t->extent, &to, &bytes)) &&
	       bytes != 0 && gompi_update_together(w, target, to, origin, result, count, type, op);
}

// Converts count and type to elements of a predefined type, if copies of the datatype consist of contiguous elements
// that begin at the buffer's address. Otherwise changes nothing.
static inline void in_elements(MPI_Count *count, MPI_Datatype *type) {
	const struct gompi_type *t = gompi_type_get(*type);
	MPI_Count n;
	if (t == NULL || !gompi_type_mortal(t) || t->elem == 0 || !(t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) ||
	    t->elem_origin != 0 || __builtin_mul_overflow(*count, t->elements, &n))
		return;
	*count = n;
	*type = (MPI_Datatype)(uintptr_t)t->elem;
}

// Returns true if the arguments of MPI_Get_accumulate are the same on all sides and the buffers are in memory. With
// MPI_NO_OP the origin's three arguments are ignored.
static inline bool alike(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
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
	MPI_Count count = origin_count, there = target_count;
	MPI_Datatype type = origin_datatype, type_there = target_datatype;
	in_elements(&count, &type);
	in_elements(&there, &type_there);
	if (type == type_there && count == there && op != MPI_NO_OP && !gompi_invalid_address(origin_addr, 0) &&
	    together(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, count, type, op))
		return MPI_SUCCESS;
	return gompi_rma_do(&(struct gompi_operation){.kind = RMA_ACCUMULATE,
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
	    singles(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, target_count, target_datatype, op))
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
	    singles(gompi_win_get(win), target_rank, target_disp, origin_addr, NULL, target_count, target_datatype,
		    op)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_rma_do(&(struct gompi_operation){.kind = RMA_ACCUMULATE,
						      .requests = true,
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
	MPI_Count count = origin_count, back = result_count, there = target_count;
	MPI_Datatype type = origin_datatype, type_back = result_datatype, type_there = target_datatype;
	in_elements(&count, &type);
	in_elements(&back, &type_back);
	in_elements(&there, &type_there);
	if (alike(origin_addr, count, type, result_addr, back, type_back, there, type_there, op) &&
	    together(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, there, type_there, op))
		return MPI_SUCCESS;
	struct gompi_operation r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
							   result_count, result_datatype, target_rank, target_disp,
							   target_count, target_datatype, op, win);
	return gompi_rma_do(&r);
}

int gompi_get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			   void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
			   MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			   MPI_Win win) {
	if (__builtin_expect(alike(origin_addr, origin_count, origin_datatype, result_addr, result_count,
				   result_datatype, target_count, target_datatype, op),
			     1) &&
	    singles(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, target_count,
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
	    alike(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_count,
		  target_datatype, op) &&
	    singles(gompi_win_get(win), target_rank, target_disp, origin_addr, result_addr, target_count,
		    target_datatype, op)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_operation r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
							   result_count, result_datatype, target_rank, target_disp,
							   target_count, target_datatype, op, win);
	r.requests = true;
	r.request = request;
	r.call = "MPI_Rget_accumulate";
	return gompi_rma_do(&r);
}
GOMPI_ENTRY(MPI_Rget_accumulate_c, gompi_rget_accumulate_c);
