// MPI_Accumulate, MPI_Get_accumulate and their request-based forms (MPI-5.0 12.3.4, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "update/update.h"

// Fast path: updates one or two elements in memory that is mapped in this process, and calls only the kernel. Returns
// false if the slow path must handle the call. The addresses of the buffers must be valid. `origin` is not used with
// MPI_NO_OP; `result` is NULL for MPI_Accumulate.
static inline __attribute__((always_inline)) bool accumulate_few(struct gompi_win *w, int target, MPI_Aint disp,
								 const void *origin, void *result, MPI_Count count,
								 MPI_Datatype type, MPI_Op op) {
	int64_t bytes, size = gompi_simple_bytes(type);
	char *to;
	// bytes is 0 if the type is not simple (predefined, without gaps) or there are no elements. The slow path
	// handles either case; it also counts operations without elements.
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

// Executes MPI_Accumulate or, if kind is RMA_GET_ACCUMULATE, MPI_Get_accumulate. MPI_Accumulate has no result
// arguments. MPI_NO_OP ignores the origin arguments.
static inline __attribute__((always_inline)) int
accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr,
	   MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
	   MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, enum gompi_rma_kind kind,
	   bool returns_request, MPI_Request *request) {
	bool has_result = kind == RMA_GET_ACCUMULATE,
	     match = (!has_result || (result_datatype == target_datatype && result_count == target_count &&
				      !gompi_invalid_address(result_addr, 0))) &&
		     (op == MPI_NO_OP ? has_result
				      : origin_datatype == target_datatype && origin_count == target_count &&
						!gompi_invalid_address(origin_addr, 0));
	if (__builtin_expect(!match || (returns_request && request == NULL) ||
				     !accumulate_few(gompi_win_get(win), target_rank, target_disp, origin_addr,
						     result_addr, target_count, target_datatype, op),
			     0))
		return gompi_accumulate_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
					     target_count, target_datatype, op, win, result_addr, result_count,
					     result_datatype, kind, returns_request, request);
	if (returns_request)
		*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}

int gompi_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		       MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
		       MPI_Win win) {
	return accumulate(origin_addr, origin_count, origin_datatype, NULL, 0, 0, target_rank, target_disp,
			  target_count, target_datatype, op, win, RMA_ACCUMULATE, false, NULL);
}
GOMPI_ENTRY(MPI_Accumulate_c, gompi_accumulate_c);

int gompi_raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
			MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			MPI_Win win, MPI_Request *request) {
	return accumulate(origin_addr, origin_count, origin_datatype, NULL, 0, 0, target_rank, target_disp,
			  target_count, target_datatype, op, win, RMA_ACCUMULATE, true, request);
}
GOMPI_ENTRY(MPI_Raccumulate_c, gompi_raccumulate_c);

int gompi_get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			   void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
			   MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			   MPI_Win win) {
	return accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
			  target_rank, target_disp, target_count, target_datatype, op, win, RMA_GET_ACCUMULATE, false,
			  NULL);
}
GOMPI_ENTRY(MPI_Get_accumulate_c, gompi_get_accumulate_c);

int gompi_rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
			    void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
			    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
			    MPI_Win win, MPI_Request *request) {
	return accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
			  target_rank, target_disp, target_count, target_datatype, op, win, RMA_GET_ACCUMULATE, true,
			  request);
}
GOMPI_ENTRY(MPI_Rget_accumulate_c, gompi_rget_accumulate_c);
