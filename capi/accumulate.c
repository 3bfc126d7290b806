// MPI_Accumulate, MPI_Get_accumulate and their request-based forms (MPI-5.0 12.3.4, 12.3.5).
#include "accumulate.h"

#include "apply.h"
#include "z_entry.h"

// A few elements on the direct path: whether it is done.
static inline bool accumulate_few(const void *origin, void *result, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	int64_t bytes, size = gompi_simple(type);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	gompi_atomic_kernel kernel = gompi_atomic(op, type);
	if ((!gompi_direct(w, target, disp, count, size, &to, &bytes) && !gompi_direct_part(w, target, disp, count, size, &to, &bytes)) || kernel == NULL ||
	    !gompi_few(count, size) || ((uintptr_t)to & ((uintptr_t)size - 1)) != 0 || !gompi_small_enter(gompi_member(w, target)))
		return false;
	kernel(origin, to, result, (size_t)count);
	gompi_small_leave();
	return true;
}

// The same with the arguments of MPI_Get_accumulate; with MPI_NO_OP the origin's three are ignored.
static inline bool get_accumulate_few(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
				      MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
				      MPI_Op op, MPI_Win win) {
	return ((origin_datatype == target_datatype && origin_count == target_count) || op == MPI_NO_OP) && result_datatype == target_datatype &&
	       result_count == target_count &&
	       accumulate_few(op == MPI_NO_OP ? NULL : origin_addr, result_addr, target_count, target_datatype, target_rank, target_disp, op, win);
}

static __attribute__((noipa)) int accumulate_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
		       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	return gompi_rma_do(&(struct gompi_rma){.kind = RMA_ACCUMULATE, .call = "MPI_Accumulate", .origin = origin_addr, .origin_count = origin_count,
						.origin_type = origin_datatype, .target = target_rank, .disp = target_disp,
						.target_count = target_count, .target_type = target_datatype, .op = op, .win = win});
}

int gompi_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
		       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	if (__builtin_expect(origin_datatype == target_datatype && origin_count == target_count && op != MPI_NO_OP, 1) &&
	    accumulate_few(origin_addr, NULL, target_count, target_datatype, target_rank, target_disp, op, win))
		return MPI_SUCCESS;
	return accumulate_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}

int gompi_raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
			MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
	if (request == NULL)
		return gompi_win_error(win, "MPI_Raccumulate", MPI_ERR_ARG, "request is NULL");
	if (origin_datatype == target_datatype && origin_count == target_count && op != MPI_NO_OP &&
	    accumulate_few(origin_addr, NULL, target_count, target_datatype, target_rank, target_disp, op, win)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	int rc = gompi_rma_do(&(struct gompi_rma){.kind = RMA_ACCUMULATE, .call = "MPI_Raccumulate", .origin = origin_addr,
						  .origin_count = origin_count, .origin_type = origin_datatype, .target = target_rank,
						  .disp = target_disp, .target_count = target_count, .target_type = target_datatype, .op = op,
						  .win = win});
	if (rc == MPI_SUCCESS)
		*request = GOMPI_REQUEST_DONE;
	return rc;
}

static struct gompi_rma describe_get_accumulate(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr,
						MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
						MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	return (struct gompi_rma){.kind = RMA_GET_ACCUMULATE, .call = "MPI_Get_accumulate", .origin = origin_addr, .origin_count = origin_count,
				  .origin_type = origin_datatype, .result = result_addr, .result_count = result_count, .result_type = result_datatype,
				  .target = target_rank, .disp = target_disp, .target_count = target_count, .target_type = target_datatype,
				  .op = op, .win = win};
}

int gompi_get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
			   MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
			   MPI_Op op, MPI_Win win) {
	if (get_accumulate_few(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count,
			       target_datatype, op, win))
		return MPI_SUCCESS;
	struct gompi_rma r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank,
						     target_disp, target_count, target_datatype, op, win);
	return gompi_rma_do(&r);
}

int gompi_rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
			    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
			    MPI_Op op, MPI_Win win, MPI_Request *request) {
	if (request == NULL)
		return gompi_win_error(win, "MPI_Rget_accumulate", MPI_ERR_ARG, "request is NULL");
	if (get_accumulate_few(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank,
						     target_disp, target_count, target_datatype, op, win)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_rma r = describe_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank,
						     target_disp, target_count, target_datatype, op, win);
	r.call = "MPI_Rget_accumulate";
	int rc = gompi_rma_do(&r);
	if (rc == MPI_SUCCESS)
		*request = GOMPI_REQUEST_DONE;
	return rc;
}
