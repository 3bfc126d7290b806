// MPI_Fetch_and_op and MPI_Compare_and_swap (MPI-5.0 12.3.4): one element, there and back.
#include "poll.h"
#include "rma.h"
#include "z_entry.h"

static __attribute__((noipa)) int fetch_slow(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op,
						MPI_Win win) {
	return gompi_rma_do(&(struct gompi_rma){.kind = RMA_FETCH_AND_OP, .call = "MPI_Fetch_and_op", .origin = origin_addr, .origin_count = 1,
						.origin_type = datatype, .result = result_addr, .result_count = 1, .result_type = datatype,
						.target = target_rank, .disp = target_disp, .target_count = 1, .target_type = datatype, .op = op,
						.win = win});
}

int gompi_fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
	int64_t bytes, size = gompi_simple(datatype);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	gompi_atomic_kernel kernel = gompi_atomic(op, datatype);
	if (__builtin_expect((gompi_direct(w, target_rank, target_disp, 1, size, &to, &bytes) ||
			      gompi_direct_part(w, target_rank, target_disp, 1, size, &to, &bytes)) &&
				     kernel != NULL && ((uintptr_t)to & ((uintptr_t)size - 1)) == 0,
			     1) &&
	    gompi_small_enter(gompi_member(w, target_rank))) {
		if (__builtin_expect(op == MPI_NO_OP, 0)) {
			kernel(NULL, to, result_addr, 1);
			gompi_small_leave();
			gompi_poll_saw(to, result_addr, size);
			return MPI_SUCCESS;
		}
		kernel(origin_addr, to, result_addr, 1);
		gompi_small_leave();
		return MPI_SUCCESS;
	}
	return fetch_slow(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

static __attribute__((noipa)) int swap_slow(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
			   MPI_Win win) {
	return gompi_rma_do(&(struct gompi_rma){.kind = RMA_COMPARE_AND_SWAP, .call = "MPI_Compare_and_swap", .origin = origin_addr, .compare = compare_addr,
						.origin_count = 1, .origin_type = datatype, .result = result_addr, .result_count = 1,
						.result_type = datatype, .target = target_rank, .disp = target_disp, .target_count = 1,
						.target_type = datatype, .win = win});
}

int gompi_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
			   MPI_Win win) {
	int64_t bytes, size = gompi_simple(datatype);
	struct gompi_win *w = gompi_win_get(win);
	char *to;
	if (__builtin_expect((gompi_direct(w, target_rank, target_disp, 1, size, &to, &bytes) ||
			      gompi_direct_part(w, target_rank, target_disp, 1, size, &to, &bytes)) &&
				     gompi_swappable(datatype) && ((uintptr_t)to & ((uintptr_t)size - 1)) == 0,
			     1) &&
	    gompi_small_enter(gompi_member(w, target_rank))) {
		bool swapped = gompi_compare_and_swap_element(to, origin_addr, compare_addr, result_addr, (uint64_t)size);
		gompi_small_leave();
		if (swapped)
			gompi_poll_over();
		else
			gompi_polled();
		return MPI_SUCCESS;
	}
	return swap_slow(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}
