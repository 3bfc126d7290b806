#include "way/way.h"

#include "base/poll.h"

static int flush_way(const struct gompi_way *way, struct gompi_win *w, int target, const char *call, bool local) {
	return local ? way->flush_local(w, target, call) : way->flush(w, target, call);
}

int gompi_settle(struct gompi_win *w, const char *call) {
	// What is not attached at the target is told in an answer.
	if (w->partner < 0 || w->attached != NULL)
		return gompi_flush_slow(w, GOMPI_ALL, call, false);
	int rc = gompi_way_node.flush(w, GOMPI_ALL, call);
	return rc == MPI_SUCCESS ? gompi_way_fabric.settle(w, w->partner, call) : rc;
}

int gompi_flush_slow(struct gompi_win *w, int target, const char *call, bool local) {
	gompi_poll_flushed();
	if (target != GOMPI_ALL)
		return flush_way(gompi_way_to(w, target), w, target, call, local);
	int rc = flush_way(&gompi_way_node, w, GOMPI_ALL, call, local);
	if (rc == MPI_SUCCESS && w->away != NULL)
		rc = flush_way(&gompi_way_fabric, w, GOMPI_ALL, call, local);
	return rc;
}
