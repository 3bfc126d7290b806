// MPI_Get and MPI_Rget (MPI-5.0 12.3.2, 12.3.5).
#include "rma/rma.h"
#include "rma/z_calls.h"

int gompi_get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_GET, false, NULL);
}
GOMPI_ENTRY(MPI_Get_c, gompi_get_c);

// Does not call gompi_get_c: a comparison of the int counts, before the conversion to MPI_Count, saves some
// instructions.
int gompi_get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
	      int target_count, MPI_Datatype target_datatype, MPI_Win win) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_GET, false, NULL);
}
GOMPI_ENTRY(MPI_Get, gompi_get);

int gompi_rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
		 MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
		 MPI_Request *request) {
	return gompi_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
			  target_datatype, win, RMA_GET, true, request);
}
GOMPI_ENTRY(MPI_Rget_c, gompi_rget_c);
