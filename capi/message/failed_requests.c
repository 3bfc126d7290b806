// Requests that can never complete, because a process has failed or the communicator is revoked.
#include "message/completion.h"

bool gompi_request_fail(struct gompi_request *r, int *class) {
	*class = gompi_fault_class(MPI_ERR_PROC_ABORTED, r->comm);
	if (*class == MPI_ERR_PROC_ABORTED)
		return false;
	if (r->kind == NULL && r->receive && r->peer == MPI_ANY_SOURCE && *class != MPIX_ERR_REVOKED) {
		*class = MPIX_ERR_PROC_FAILED_PENDING;
		return false;
	}
	if (r->kind != NULL) {
		if (r->kind->abandon != NULL)
			r->kind->abandon(r, *class);
		return gompi_is_complete(r);
	}
	struct gompi_vci *l = r->vci;
	for (bool is_abandoned = false; !is_abandoned;) {
		gompi_vci_lock(l);
		if (!r->receive) {
			is_abandoned = true;
			if (gompi_load(&r->state) == REQUEST_ACTIVE)
				gompi_send_abandon(l, r, *class);
		} else if (gompi_abandon_receive(l, r)) {
			is_abandoned = true;
			if (gompi_load(&r->state) == REQUEST_ACTIVE) {
				r->result.class = *class;
				gompi_store_release(&r->state, REQUEST_COMPLETE);
			}
		}
		gompi_vci_unlock(l);
	}
	return gompi_is_complete(r);
}

bool gompi_request_test_failed(struct gompi_request *r, int *class) {
	struct gompi_stuck_entry place = {0};
	*class = MPI_SUCCESS;
	return gompi_request_failed_peer(r, &place) != GOMPI_NONE_FAILED && gompi_request_fail(r, class);
}

bool gompi_array_fail(const struct gompi_request_array *s, int *pending_class) {
	bool complete, any = false;
	int class;
	*pending_class = MPI_SUCCESS;
	for (int i = 0; i < s->count; i++) {
		struct gompi_request *r = gompi_request_of(s->requests[i]);
		if (r == NULL || !gompi_is_active(s->requests[i], &complete) || complete)
			continue;
		any = gompi_request_test_failed(r, &class) || any;
		if (class == MPIX_ERR_PROC_FAILED_PENDING)
			*pending_class = class;
	}
	return any;
}
