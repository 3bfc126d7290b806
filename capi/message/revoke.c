// Revocation of communicators (MPIX_Comm_revoke). Each member that learns of the revocation forwards it to all members
// before it uses the communicator again. So all members learn of it if one survivor does, although the member that has
// called MPIX_Comm_revoke may fail.
#include "base/failure.h"
#include "comm/failures.h"
#include "message/call.h"
#include "message/remote.h"

// Makes all waits of this process check whether their communicator is revoked.
static void end_revoked_waits(void) {
	gompi_add_seq_cst(&gompi_node_header()->revocation_count, 1);
	gompi_add_seq_cst(&gompi_node_header()->failed_count, 1);
	gompi_recheck_waits();
}

// Sends the revocation of the communicator with an id to other members. The caller holds the lock of its VCI.
static void send_revocation(struct gompi_vci *l, uint64_t id, const struct gompi_ranks *members) {
	const struct gompi_pending w = {.record = {.word = gompi_record_word(RECORD_REVOKE, 0, 0),
						   .context = id,
						   .from = l->messages->node.self},
					.notify = NOTIFY_DOORBELL};
	for (int i = 0; i < members->n; i++) {
		const int process = gompi_ranks_at(members, i);
		if (process != l->messages->node.self && !gompi_is_failed(process))
			gompi_post_record(l, gompi_link_to(l, process), &w);
	}
}

void gompi_handle_revoke(struct gompi_vci *l, const struct gompi_record *h) {
	struct gompi_comm_members members = {0};
	const uint64_t id = h->context; // the record's memory may be reused once records are sent
	if (!gompi_comm_revoke_by_id(id, &members))
		return;
	send_revocation(l, id, &members.peers);
	send_revocation(l, id, &members.locals);
	gompi_ranks_release(&members.peers);
	gompi_ranks_release(&members.locals);
	end_revoked_waits();
}

void gompi_revoke(struct gompi_comm *c) {
	if (!gompi_comm_mark_revoked(c))
		return;
	struct gompi_vci *l = gompi_vci_of(gompi_load(&gompi_app_messages), c->id);
	gompi_vci_lock(l);
	send_revocation(l, c->id, &c->peers);
	if (c->is_inter)
		send_revocation(l, c->id, &c->members);
	gompi_vci_unlock_progress(l);
	end_revoked_waits();
}

int MPIX_Comm_revoke(MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL || gompi_load(&gompi_app_messages) == NULL)
		return gompi_raise_invalid_comm(comm, "MPIX_Comm_revoke");
	gompi_revoke(c);
	return MPI_SUCCESS;
}
