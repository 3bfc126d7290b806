// MPI_Put and MPI_Rput (MPI-5.0 12.3.1, 12.3.5).
#include "rma.h"
#include "z_entry.h"

// Neither inlined nor given other parameters: the fast path then needs no stack frame, and comes here by a jump.
static __attribute__((noipa)) int put_slow(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
		MPI_Datatype target_datatype, MPI_Win win) {
	int64_t bytes;
	char *to;
	if (origin_datatype == target_datatype && origin_count == target_count &&
	    gompi_direct_part(gompi_win_get(win), target_rank, target_disp, target_count, gompi_simple(target_datatype), &to, &bytes) &&
	    gompi_copy(to, origin_addr, bytes))
		return MPI_SUCCESS;
	return gompi_rma_do(&(struct gompi_rma){.kind = RMA_PUT, .call = "MPI_Put", .origin = origin_addr, .origin_count = origin_count,
						.origin_type = origin_datatype, .target = target_rank, .disp = target_disp,
						.target_count = target_count, .target_type = target_datatype, .win = win});
}

// Where types and counts are the same on both sides the first two arguments tell nothing more: their registers are free for the fast path.
static __attribute__((noipa)) int put_same(const void *origin_addr, MPI_Count unused_count, MPI_Datatype unused_datatype, int target_rank, MPI_Aint target_disp,
					     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	(void)unused_count, (void)unused_datatype;
	return put_slow(origin_addr, target_count, target_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

int gompi_put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
		MPI_Datatype target_datatype, MPI_Win win) {
	if (__builtin_expect(origin_datatype != target_datatype || origin_count != target_count, 0))
		return put_slow(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
	int64_t bytes;
	char *to;
	if (__builtin_expect(gompi_direct(gompi_win_get(win), target_rank, target_disp, target_count, gompi_simple(target_datatype), &to, &bytes), 1) &&
	    gompi_copy(to, origin_addr, bytes))
		return MPI_SUCCESS;
	return put_same(origin_addr, 0, 0, target_rank, target_disp, target_count, target_datatype, win);
}

int gompi_rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
		 MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
	if (request == NULL)
		return gompi_win_error(win, "MPI_Rput", MPI_ERR_ARG, "request is NULL");
	int rc = gompi_rma_do(&(struct gompi_rma){.kind = RMA_PUT, .request = true, .call = "MPI_Rput", .origin = origin_addr,
						  .origin_count = origin_count, .origin_type = origin_datatype, .target = target_rank, .disp = target_disp,
						  .target_count = target_count, .target_type = target_datatype, .win = win});
	if (rc == MPI_SUCCESS)
		*request = GOMPI_REQUEST_DONE;
	return rc;
}
