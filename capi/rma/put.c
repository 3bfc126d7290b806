// MPI_Put and MPI_Rput (MPI-5.0 12.3.1, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/counts.h"

// Puts at most GOMPI_SHORT_PUT_BYTES of a simple type to a member on another node. Returns false unless the arguments
// are those of the common case; then gompi_rma_slow_path handles the call and reports errors.
static bool put_remote(struct gompi_win *w, const void *origin, int target, MPI_Aint disp, MPI_Count count,
		       int64_t size) {
	int64_t offset, bytes;
	if ((uint32_t)target >= w->n)
		return false;
	const struct gompi_win_remote *member = &w->remote[target];
	uint32_t state = gompi_load(&w->targets[target].state);
	if ((state & TARGET_LOCAL) || !((gompi_load(&w->access) | state) & TARGET_ACCESS) ||
	    __builtin_mul_overflow((int64_t)disp, (int64_t)member->disp_unit, &offset) ||
	    __builtin_mul_overflow((int64_t)count, size, &bytes) || bytes <= 0 || bytes > GOMPI_SHORT_PUT_BYTES)
		return false;
	// Negative offsets become huge here. In a dynamic window all sizes are 0: only the target knows what is
	// attached.
	if ((uint64_t)offset > member->size || (uint64_t)bytes > member->size - (uint64_t)offset ||
	    !gompi_put_short(w, target, (uint64_t)offset, origin, (uint64_t)bytes))
		return false;
	gompi_count_operation(w, RMA_PUT, MPIX_GOMPIRMA_NETWORK, bytes);
	return true;
}

// Executes any put on the slow path. This function and the next ones are not inlined and keep the parameters of
// MPI_Put, so that they jump to each other without a stack frame.
static __attribute__((noipa)) int put_generic(const void *origin_addr, MPI_Count origin_count,
					      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
					      MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_PUT,
							     .call = "MPI_Put",
							     .origin = origin_addr,
							     .origin_count = origin_count,
							     .origin_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .win = win});
}

// Handles equal types and counts on both sides, in a window that spans nodes. The origin must be in memory.
static __attribute__((noipa)) int put_multi_node(const void *origin_addr, MPI_Count unused_count,
						 MPI_Datatype unused_datatype, int target_rank, MPI_Aint target_disp,
						 MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	(void)unused_count, (void)unused_datatype;
	struct gompi_win *w = gompi_win_get(win);
	int64_t size = gompi_simple_bytes(target_datatype), bytes;
	char *to;
	if (w != NULL && put_remote(w, origin_addr, target_rank, target_disp, target_count, size))
		return MPI_SUCCESS;
	if (gompi_resolve_partial_slow(w, target_rank, target_disp, target_count, size, &to, &bytes))
		return gompi_copy_bytes(to, origin_addr, bytes);
	return put_generic(origin_addr, target_count, target_datatype, target_rank, target_disp, target_count,
			   target_datatype, win);
}

static __attribute__((noipa)) int put_slow(const void *origin_addr, MPI_Count origin_count,
					   MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
					   MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	struct gompi_win *w = gompi_win_get(win);
	int64_t bytes;
	char *to;
	if (origin_datatype == target_datatype && origin_count == target_count && w != NULL &&
	    !gompi_invalid_address(origin_addr, 0)) {
		if (w->remote != NULL)
			return put_multi_node(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
					      target_count, target_datatype, win);
		if (gompi_resolve_partial_range(w, target_rank, target_disp, target_count,
						gompi_simple_bytes(target_datatype), &to, &bytes))
			return gompi_copy_bytes(to, origin_addr, bytes);
	}
	if (gompi_typed_direct(w, true, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
			       target_count, target_datatype))
		return MPI_SUCCESS;
	return put_generic(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			   target_datatype, win);
}

// Handles equal types and counts on both sides. The origin's type and count are then redundant, so their registers are
// free for the fast path.
static __attribute__((noipa)) int put_equal_types(const void *origin_addr, MPI_Count unused_count,
						  MPI_Datatype unused_datatype, int target_rank, MPI_Aint target_disp,
						  MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	(void)unused_count, (void)unused_datatype;
	return put_slow(origin_addr, target_count, target_datatype, target_rank, target_disp, target_count,
			target_datatype, win);
}

// Executes the call for equal types and counts on both sides.
static inline __attribute__((always_inline)) int put(const void *origin_addr, int target_rank, MPI_Aint target_disp,
						     MPI_Count target_count, MPI_Datatype target_datatype,
						     MPI_Win win) {
	int64_t bytes;
	char *to;
	if (__builtin_expect(!gompi_invalid_address(origin_addr, 0) &&
				     gompi_resolve_direct(gompi_win_get(win), target_rank, target_disp, target_count,
							  gompi_simple_bytes(target_datatype), &to, &bytes),
			     1)) {
		if (__builtin_expect(bytes == 8, 1)) {
			gompi_copy_word(to, origin_addr);
			return MPI_SUCCESS;
		}
		if (bytes != 0) // no bytes may also mean a type that is not simple
			return gompi_copy_bytes(to, origin_addr, bytes);
	}
	return put_equal_types(origin_addr, 0, 0, target_rank, target_disp, target_count, target_datatype, win);
}

int gompi_put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0))
		return put_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
				target_datatype, win);
	return put(origin_addr, target_rank, target_disp, target_count, target_datatype, win);
}
GOMPI_ENTRY(MPI_Put_c, gompi_put_c);

// Uses int counts: without possible overflow it saves some instructions.
int gompi_put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
	      MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0)) {
		__asm__("" : "+r"(origin_count)); // prevents an early widening, which takes a register
		return put_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
				target_datatype, win);
	}
	return put(origin_addr, target_rank, target_disp, target_count, target_datatype, win);
}
GOMPI_ENTRY(MPI_Put, gompi_put);

int gompi_rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		 MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		 MPI_Request *request) {
	int64_t bytes;
	char *to;
	if (request != NULL && origin_datatype == target_datatype && origin_count == target_count &&
	    gompi_resolve_direct(gompi_win_get(win), target_rank, target_disp, target_count,
				 gompi_simple_bytes(target_datatype), &to, &bytes) &&
	    bytes != 0 && !gompi_invalid_address(origin_addr, 0)) {
		*request = GOMPI_REQUEST_DONE;
		return gompi_copy_bytes(to, origin_addr, bytes);
	}
	if (request != NULL && gompi_typed_direct(gompi_win_get(win), true, origin_addr, origin_count, origin_datatype,
						  target_rank, target_disp, target_count, target_datatype)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_PUT,
							     .returns_request = true,
							     .request = request,
							     .call = "MPI_Rput",
							     .origin = origin_addr,
							     .origin_count = origin_count,
							     .origin_type = origin_datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = target_count,
							     .target_type = target_datatype,
							     .win = win});
}
GOMPI_ENTRY(MPI_Rput_c, gompi_rput_c);
