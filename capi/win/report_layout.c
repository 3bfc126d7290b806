// Functions for tools (mpix_gompirma.h): requests that the operations on a window are counted, and reports where a
// member's memory is mapped, and the paths to this memory.
#include "win/counts.h"

enum {
	DIRECT_PATH = 1 << MPIX_GOMPIRMA_DIRECT,
	RING_PATH = 1 << MPIX_GOMPIRMA_RING,
	CMA_PATH = 1 << MPIX_GOMPIRMA_CMA,
	NETWORK_PATH = 1 << MPIX_GOMPIRMA_NETWORK,
};

// Returns the paths to a member on this node. Either all, some or none of the member's memory is mapped in this
// process.
static unsigned paths_on_node(bool all_mapped, bool some_mapped) {
	if (all_mapped)
		return DIRECT_PATH;
	return RING_PATH | (gompi_node.has_cma ? CMA_PATH : 0u) | (some_mapped ? DIRECT_PATH : 0u);
}

int MPIX_Gompirma_win_layout(MPI_Win win, int rank, struct MPIX_Gompirma_layout *layout) {
	const struct gompi_win *w = gompi_win_get(win);
	if (w == NULL || (uint32_t)rank >= w->n || layout == NULL)
		return w == NULL ? MPI_ERR_WIN : layout == NULL ? MPI_ERR_ARG : MPI_ERR_RANK;
	struct MPIX_Gompirma_layout l = {.size = (MPI_Aint)gompi_win_bytes(w, rank),
					 .disp_unit = (int)gompi_win_disp_unit(w, rank),
					 .process = gompi_win_peer(w, rank),
					 .ways = NETWORK_PATH};
	if (!gompi_win_is_remote(w, rank)) {
		const struct gompi_target *t = &w->targets[rank];
		struct gompi_mapped_range p = gompi_mapped_range_of(w, rank);
		bool all = gompi_load(&t->state) & TARGET_DIRECT;
		if (all)
			p = (struct gompi_mapped_range){0, t->mapped_bytes};
		l.from = (MPI_Aint)p.from, l.to = (MPI_Aint)p.to;
		l.base = p.from < p.to ? t->base : NULL;
		l.ways = paths_on_node(all, p.from < p.to || w->attached != NULL);
	}
	*layout = l;
	return MPI_SUCCESS;
}

int MPIX_Gompirma_win_count(MPI_Win win, struct MPIX_Gompirma_count (*counts)[MPIX_GOMPIRMA_WAYS]) {
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return MPI_ERR_WIN;
	if (counts != NULL && w->counts == NULL)
		gompi_add(&gompi_counting, 1);
	if (counts == NULL && w->counts != NULL)
		gompi_sub(&gompi_counting, 1);
	w->counts = counts;
	return MPI_SUCCESS;
}
