#include "way/way.h"

#include "base/poll.h"

int gompi_flush_slow(struct gompi_win *w, int target, const char *call) {
	gompi_poll_flushed();
	gompi_hot_look();
	if (target != GOMPI_ALL)
		return gompi_way_to(w, target)->flush(w, target, call);
	if (w->ways == NULL)
		return gompi_way_node.flush(w, GOMPI_ALL, call);
	int rc = MPI_SUCCESS;
	for (uint32_t i = 0; i < w->n && rc == MPI_SUCCESS; i++)
		rc = w->ways[i]->flush(w, (int)i, call);
	return rc;
}
