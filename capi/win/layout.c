// The report of a member's memory to tools (mpix_gompirma.h).
#include "win/win.h"

enum {
	DIRECT_WAY = 1 << MPIX_GOMPIRMA_DIRECT,
	RING_WAY = 1 << MPIX_GOMPIRMA_RING,
	CMA_WAY = 1 << MPIX_GOMPIRMA_CMA,
	NETWORK_WAY = 1 << MPIX_GOMPIRMA_NETWORK,
};

// Returns the paths to a member of this node: all of its memory is mapped in this process, or some of it, or none.
static unsigned ways_on_node(bool all, bool some) {
	if (all)
		return DIRECT_WAY;
	return RING_WAY | (gompi_node.cma ? CMA_WAY : 0u) | (some ? DIRECT_WAY : 0u);
}

int MPIX_Gompirma_win_layout(MPI_Win win, int rank, struct MPIX_Gompirma_layout *layout) {
	const struct gompi_win *w = gompi_win_get(win);
	if (w == NULL || (uint32_t)rank >= w->n || layout == NULL)
		return w == NULL ? MPI_ERR_WIN : layout == NULL ? MPI_ERR_ARG : MPI_ERR_RANK;
	struct MPIX_Gompirma_layout l = {.size = (MPI_Aint)gompi_win_bytes(w, rank),
					 .disp_unit = (int)gompi_win_unit(w, rank),
					 .process = gompi_win_peer(w, rank),
					 .ways = NETWORK_WAY};
	if (!gompi_win_elsewhere(w, rank)) {
		const struct gompi_target *t = &w->targets[rank];
		struct gompi_part p = gompi_part_of(w, rank);
		bool all = gompi_load(&t->state) & TARGET_DIRECT;
		if (all)
			p = (struct gompi_part){0, t->reach};
		l.from = (MPI_Aint)p.from, l.to = (MPI_Aint)p.to;
		l.base = p.from < p.to ? t->base : NULL;
		l.ways = ways_on_node(all, p.from < p.to || w->attached != NULL);
	}
	*layout = l;
	return MPI_SUCCESS;
}
