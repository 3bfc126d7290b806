// MPI_Put and MPI_Rput (MPI-5.0 12.3.1, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "transport/transport.h"
#include "win/counts.h"

// Puts a few bytes of a simple type to a member on another node, if the arguments are those of the common case. Returns
// true if it has; otherwise gompi_rma_do handles the call and reports errors.
static bool put_elsewhere(struct gompi_win *w, const void *origin, int target, MPI_Aint disp, MPI_Count count,
			  int64_t size) {
	int64_t offset, bytes;
	if ((uint32_t)target >= w->n)
		return false;
	const struct gompi_win_remote *there = &w->remote[target];
	uint32_t state = gompi_load(&w->targets[target].state);
	if ((state & TARGET_NEAR) || !((gompi_load(&w->access) | state) & TARGET_ACCESS) ||
	    __builtin_mul_overflow((int64_t)disp, (int64_t)there->disp_unit, &offset) ||
	    __builtin_mul_overflow((int64_t)count, size, &bytes) || bytes <= 0 || bytes > GOMPI_SHORT_PUT)
		return false;
	// Negative offsets become huge here. In a dynamic window all sizes are 0: only the target knows what is
	// attached.
	if ((uint64_t)offset > there->size || (uint64_t)bytes > there->size - (uint64_t)offset ||
	    !gompi_put_short(w, target, (uint64_t)offset, origin, (uint64_t)bytes))
		return false;
	gompi_count(w, RMA_PUT, MPIX_GOMPIRMA_NETWORK, bytes);
	return true;
}

// Executes any put on the slow path. This function and the next ones are neither inlined nor given other parameters:
// they need no stack frame to jump to each other.
static __attribute__((noipa)) int put_any(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
					  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
					  MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_rma_do(&(struct gompi_operation){.kind = RMA_PUT,
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
static __attribute__((noipa)) int put_nodes(const void *origin_addr, MPI_Count unused_count,
					    MPI_Datatype unused_datatype, int target_rank, MPI_Aint target_disp,
					    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	(void)unused_count, (void)unused_datatype;
	struct gompi_win *w = gompi_win_get(win);
	int64_t size = gompi_simple(target_datatype), bytes;
	char *to;
	if (w != NULL && put_elsewhere(w, origin_addr, target_rank, target_disp, target_count, size))
		return MPI_SUCCESS;
	if (gompi_direct_part(w, target_rank, target_disp, target_count, size, &to, &bytes))
		return gompi_copy_bytes(to, origin_addr, bytes);
	return put_any(origin_addr, target_count, target_datatype, target_rank, target_disp, target_count,
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
			return put_nodes(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
					 target_count, target_datatype, win);
		if (gompi_direct_here(w, target_rank, target_disp, target_count, gompi_simple(target_datatype), &to,
				      &bytes))
			return gompi_copy_bytes(to, origin_addr, bytes);
	}
	if (gompi_typed_here(w, true, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
			     target_count, target_datatype))
		return MPI_SUCCESS;
	return put_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
		       target_datatype, win);
}

// Handles equal types and counts on both sides. The origin's type and count are then redundant, so their registers are
// free for the fast path.
static __attribute__((noipa)) int put_same(const void *origin_addr, MPI_Count unused_count,
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
				     gompi_direct(gompi_win_get(win), target_rank, target_disp, target_count,
						  gompi_simple(target_datatype), &to, &bytes),
			     1)) {
		if (__builtin_expect(bytes == 8, 1)) {
			gompi_copy_word(to, origin_addr);
			return MPI_SUCCESS;
		}
		if (bytes != 0) // no bytes may also mean a type that is not simple
			return gompi_copy_bytes(to, origin_addr, bytes);
	}
	return put_same(origin_addr, 0, 0, target_rank, target_disp, target_count, target_datatype, win);
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
	    gompi_direct(gompi_win_get(win), target_rank, target_disp, target_count, gompi_simple(target_datatype), &to,
			 &bytes) &&
	    bytes != 0 && !gompi_invalid_address(origin_addr, 0)) {
		*request = GOMPI_REQUEST_DONE;
		return gompi_copy_bytes(to, origin_addr, bytes);
	}
	if (request != NULL && gompi_typed_here(gompi_win_get(win), true, origin_addr, origin_count, origin_datatype,
						target_rank, target_disp, target_count, target_datatype)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_rma_do(&(struct gompi_operation){.kind = RMA_PUT,
						      .requests = true,
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
