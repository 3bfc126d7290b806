#include "transport/transport.h"

#include "base/poll.h"

static int flush_transport(const struct gompi_transport *t, struct gompi_win *w, int target, const char *call,
			   bool local) {
	return local ? t->flush_local(w, target, call) : t->flush(w, target, call);
}

int gompi_lock_all_remote(struct gompi_win *w, const char *call) {
	return gompi_transport_fabric.lock(w, GOMPI_ALL, false, call);
}

int gompi_unlock_all_remote(struct gompi_win *w, const char *call) {
	return gompi_transport_fabric.unlock(w, GOMPI_ALL, false, call);
}

int gompi_flush_node(struct gompi_win *w, const char *call) { return gompi_transport_node.flush(w, GOMPI_ALL, call); }

int gompi_flush_before_barrier(struct gompi_win *w, const char *call) {
	// In a dynamic window, only the target's answer shows whether a range is attached, so wait for all answers.
	if (w->partner < 0 || w->attached != NULL)
		return gompi_flush_slow(w, GOMPI_ALL, call, false);
	int rc = gompi_transport_node.flush(w, GOMPI_ALL, call);
	return rc == MPI_SUCCESS ? gompi_transport_fabric.flush_before_barrier(w, w->partner, call) : rc;
}

int gompi_flush_slow(struct gompi_win *w, int target, const char *call, bool local) {
	gompi_poll_after_flush();
	if (target != GOMPI_ALL)
		return flush_transport(gompi_transport_to(w, target), w, target, call, local);
	int rc = flush_transport(&gompi_transport_node, w, GOMPI_ALL, call, local);
	if (rc == MPI_SUCCESS && w->remote != NULL)
		rc = flush_transport(&gompi_transport_fabric, w, GOMPI_ALL, call, local);
	return rc;
}
