#include "win/counts.h"

int MPIX_Gompirma_win_count(MPI_Win win, struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS]) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return MPI_ERR_WIN;
	w->counts = counts;
	return MPI_SUCCESS;
}
