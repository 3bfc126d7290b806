// MPI_Get and MPI_Rget (MPI-5.0 12.3.2, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"

static __attribute__((noipa)) int get_slow(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
					   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
					   MPI_Datatype target_datatype, MPI_Win win) {
	int64_t bytes;
	char *from;
	struct gompi_win *w = gompi_win_get(win);
	if (gompi_typed_direct(w, false, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
			       target_count, target_datatype))
		return MPI_SUCCESS;
	if (origin_datatype == target_datatype && origin_count == target_count &&
	    gompi_resolve_partial_slow(w, target_rank, target_disp, target_count, gompi_simple_bytes(target_datatype),
				       &from, &bytes) &&
	    !gompi_invalid_address(origin_addr, 0))
		return gompi_copy_bytes(origin_addr, from, bytes);
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_GET,
							     .call = "MPI_Get",
							     .result = origin_addr,
							     .result_count = origin_count,
							     .result_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .win = win});
}

// Handles equal types and counts on both sides. The origin's type and count are then redundant, so their registers are
// free for the fast path.
static __attribute__((noipa)) int get_equal_types(void *origin_addr, MPI_Count unused_count,
						  MPI_Datatype unused_datatype, int target_rank, MPI_Aint target_disp,
						  MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	(void)unused_count, (void)unused_datatype;
	return get_slow(origin_addr, target_count, target_datatype, target_rank, target_disp, target_count,
			target_datatype, win);
}

// Executes the call for equal types and counts on both sides.
static inline __attribute__((always_inline)) int get(void *origin_addr, int target_rank, MPI_Aint target_disp,
						     MPI_Count target_count, MPI_Datatype target_datatype,
						     MPI_Win win) {
	int64_t bytes;
	char *from;
	if (__builtin_expect(!gompi_invalid_address(origin_addr, 0) &&
				     gompi_resolve_direct(gompi_win_get(win), target_rank, target_disp, target_count,
							  gompi_simple_bytes(target_datatype), &from, &bytes),
			     1)) {
		if (__builtin_expect(bytes == 8, 1)) {
			gompi_copy_word(origin_addr, from);
			return MPI_SUCCESS;
		}
		if (bytes != 0) // no bytes may also mean a type that is not simple
			return gompi_copy_bytes(origin_addr, from, bytes);
	}
	return get_equal_types(origin_addr, 0, 0, target_rank, target_disp, target_count, target_datatype, win);
}

int gompi_get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0))
		return get_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
				target_datatype, win);
	return get(origin_addr, target_rank, target_disp, target_count, target_datatype, win);
}
GOMPI_ENTRY(MPI_Get_c, gompi_get_c);

// Uses int counts: without possible overflow it saves some instructions.
int gompi_get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
	      int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0)) {
		__asm__("" : "+r"(origin_count)); // prevents an early widening, which takes a register
		return get_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
				target_datatype, win);
	}
	return get(origin_addr, target_rank, target_disp, target_count, target_datatype, win);
}
GOMPI_ENTRY(MPI_Get, gompi_get);

int gompi_rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		 MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		 MPI_Request *request) {
	int64_t bytes;
	char *from;
	if (request != NULL && origin_datatype == target_datatype && origin_count == target_count &&
	    gompi_resolve_direct(gompi_win_get(win), target_rank, target_disp, target_count,
				 gompi_simple_bytes(target_datatype), &from, &bytes) &&
	    bytes != 0 && !gompi_invalid_address(origin_addr, 0)) {
		*request = GOMPI_REQUEST_DONE;
		return gompi_copy_bytes(origin_addr, from, bytes);
	}
	if (request != NULL && gompi_typed_direct(gompi_win_get(win), false, origin_addr, origin_count, origin_datatype,
						  target_rank, target_disp, target_count, target_datatype)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_GET,
							     .returns_request = true,
							     .request = request,
							     .call = "MPI_Rget",
							     .result = origin_addr,
							     .result_count = origin_count,
							     .result_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .win = win});
}
GOMPI_ENTRY(MPI_Rget_c, gompi_rget_c);
