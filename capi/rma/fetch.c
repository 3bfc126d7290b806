// MPI_Fetch_and_op and MPI_Compare_and_swap (MPI-5.0 12.3.4), which update one element and return its previous value.
//
// The fast path calls only the kernel, so it needs almost no stack frame. All other work is in functions that the fast
// path enters by a tail call.
#include "base/poll.h"
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "update/update.h"

// Reads an element at `to`, for MPI_NO_OP. Must be called after gompi_atomic_update_begin; calls
// gompi_unlocked_update_end.
static __attribute__((noinline)) int fetch_read(gompi_atomic_kernel kernel, char *to, void *result, int64_t size) {
	kernel(NULL, to, result, 1);
	gompi_unlocked_update_end();
	gompi_poll_check_value(to, result, size);
	return MPI_SUCCESS;
}

int gompi_fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
		       MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
	int64_t bytes, size = gompi_simple_bytes(datatype);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	if (__builtin_expect(size != 0 && !gompi_invalid_address(result_addr, 0) &&
				     gompi_resolve_direct(w, target_rank, target_disp, 1, size, &to, &bytes) &&
				     gompi_is_aligned(to, size),
			     1)) {
		gompi_atomic_kernel kernel = gompi_atomic_kernel_simple(op, datatype);
		if (__builtin_expect(kernel != NULL && (!gompi_invalid_address(origin_addr, 0) || op == MPI_NO_OP) &&
					     gompi_atomic_update_begin(gompi_member(w, target_rank)),
				     1)) {
			if (__builtin_expect(op == MPI_NO_OP, 0))
				return fetch_read(kernel, to, result_addr, size);
			kernel(origin_addr, to, result_addr, 1);
			gompi_unlocked_update_end();
			return MPI_SUCCESS;
		}
	}
	return gompi_accumulate_slow(origin_addr, 1, datatype, target_rank, target_disp, 1, datatype, op, win,
				     result_addr, 1, datatype, RMA_FETCH_AND_OP, false, NULL);
}
GOMPI_ENTRY(MPI_Fetch_and_op, gompi_fetch_and_op);

// Compares and swaps an element at `to`. Must be called after gompi_atomic_update_begin or gompi_unlocked_update_begin;
// calls gompi_unlocked_update_end.
static inline int swap_at(char *to, const void *origin, const void *compare, void *result, int64_t size) {
	bool swapped = gompi_compare_and_swap_element(to, origin, compare, result, (uint64_t)size);
	gompi_unlocked_update_end();
	if (swapped)
		gompi_poll_reset();
	else
		gompi_poll_idle();
	return MPI_SUCCESS;
}

// Returns true if `size` is not 0 and the addresses of all buffers are valid.
static inline bool can_swap(const void *origin, const void *compare, const void *result, int64_t size) {
	return size != 0 && !gompi_invalid_address(origin, 0) && !gompi_invalid_address(compare, 0) &&
	       !gompi_invalid_address(result, 0);
}

static __attribute__((noinline)) int swap_slow(const void *origin_addr, const void *compare_addr, void *result_addr,
					       MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
					       MPI_Win win) {
	int64_t bytes, size = gompi_cas_type_bytes(datatype);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	if (can_swap(origin_addr, compare_addr, result_addr, size) &&
	    gompi_resolve_mapped(w, target_rank, target_disp, 1, size, &to, &bytes) && gompi_is_aligned(to, size) &&
	    gompi_unlocked_update_begin(gompi_member(w, target_rank)) != HOLD_NOTHING)
		return swap_at(to, origin_addr, compare_addr, result_addr, size);
	return gompi_rma_slow_path(&(struct gompi_operation){.kind = RMA_COMPARE_AND_SWAP,
							     .origin = origin_addr,
							     .compare = compare_addr,
							     .origin_count = 1,
							     .origin_type = datatype,
							     .result = result_addr,
							     .result_count = 1,
							     .result_type = datatype,
							     .target = target_rank,
							     .disp = target_disp,
							     .target_count = 1,
							     .target_type = datatype,
							     .win = win});
}

int gompi_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
			   int target_rank, MPI_Aint target_disp, MPI_Win win) {
	int64_t bytes, size = gompi_cas_type_bytes(datatype);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	if (__builtin_expect(gompi_resolve_direct(w, target_rank, target_disp, 1, size, &to, &bytes) &&
				     can_swap(origin_addr, compare_addr, result_addr, size) &&
				     gompi_is_aligned(to, size) &&
				     gompi_atomic_update_begin(gompi_member(w, target_rank)),
			     1))
		return swap_at(to, origin_addr, compare_addr, result_addr, size);
	return swap_slow(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}
GOMPI_ENTRY(MPI_Compare_and_swap, gompi_compare_and_swap);
