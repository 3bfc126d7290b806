// MPI_Put and MPI_Rput (MPI-5.0 12.3.1, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"

int gompi_put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_PUT, false, NULL);
}
GOMPI_ENTRY(MPI_Put_c, gompi_put_c);

// Does not call gompi_put_c: a comparison of the int counts, before the conversion to MPI_Count, saves some
// instructions.
int gompi_put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
	      MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_PUT, false, NULL);
}
GOMPI_ENTRY(MPI_Put, gompi_put);

int gompi_rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		 MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		 MPI_Request *request) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_PUT, true, request);
}
GOMPI_ENTRY(MPI_Rput_c, gompi_rput_c);
