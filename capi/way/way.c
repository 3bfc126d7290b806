#include "way/way.h"

#include "base/poll.h"

int gompi_flush_slow(struct gompi_win *w, int target, const char *call) {
	gompi_poll_flushed();
	gompi_hot_look();
	if (target != GOMPI_ALL)
		return gompi_way_to(w, target)->flush(w, target, call);
	int rc = gompi_way_node.flush(w, GOMPI_ALL, call);
	if (rc == MPI_SUCCESS && w->away != NULL)
		rc = gompi_way_fabric.flush(w, GOMPI_ALL, call);
	return rc;
}
