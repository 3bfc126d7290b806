// Failed members of communicators. These functions neither block nor communicate.
#include "comm/failures.h"

#include <stdlib.h>

#include "base/failure.h"
#include "base/go_callbacks.h"
#include "comm/revoked_ids.h"

// The members that are known to have failed, in the order of detection. The first `acked` of them are acknowledged.
struct gompi_comm_failures {
	int count, acked;
	uint32_t seen; // gompi_failure_count() at the last search
	int32_t member[];
};

int gompi_comm_member(const struct gompi_comm *c, int i) {
	if (i < c->peers.n)
		return gompi_ranks_at(&c->peers, i);
	i -= c->peers.n;
	return c->is_inter && i < c->members.n ? gompi_ranks_at(&c->members, i) : -1;
}

static int member_count(const struct gompi_comm *c) { return c->peers.n + (c->is_inter ? c->members.n : 0); }

static bool is_failure_listed(const struct gompi_comm_failures *f, int member) {
	for (int i = 0; i < f->count; i++)
		if (f->member[i] == member)
			return true;
	return false;
}

// Adds members that have failed to the list. Returns the list, or NULL if no member has failed or memory ran out. The
// caller holds gompi_failures_lock.
static struct gompi_comm_failures *update_locked(struct gompi_comm *c) {
	const uint32_t now = gompi_failure_count();
	struct gompi_comm_failures *f = c->failures;
	if (f == NULL && now != 0 && (f = calloc(1, sizeof *f + (size_t)member_count(c) * sizeof f->member[0])) != NULL)
		c->failures = f;
	if (f == NULL)
		return NULL;
	if (f->seen != now) {
		f->seen = now;
		for (int i = 0, process; (process = gompi_comm_member(c, i)) >= 0; i++)
			if (gompi_is_failed(process) && !is_failure_listed(f, i))
				f->member[f->count++] = i;
	}
	if (f->count > 0 && gompi_node.is_fault_tolerant)
		gompi_comm_restrict(c);
	return f->count > 0 ? f : NULL;
}

bool gompi_comm_note_failures(struct gompi_comm *c) {
	gompi_mutex_lock(&gompi_failures_lock);
	bool any = update_locked(c) != NULL;
	gompi_mutex_unlock(&gompi_failures_lock);
	return any;
}

int gompi_comm_unacknowledged(struct gompi_comm *c) {
	gompi_mutex_lock(&gompi_failures_lock);
	const struct gompi_comm_failures *f = update_locked(c);
	int process = GOMPI_NONE_FAILED;
	for (int i = f != NULL ? f->acked : 0; f != NULL && i < f->count && process == GOMPI_NONE_FAILED; i++)
		if (f->member[i] < c->peers.n) // only a member of the remote group can be a sender
			process = gompi_comm_member(c, f->member[i]);
	gompi_mutex_unlock(&gompi_failures_lock);
	return process;
}

bool gompi_comm_mark_revoked(struct gompi_comm *c) {
	if (gompi_swap_seq_cst(&c->is_revoked, 1) != 0)
		return false;
	gompi_comm_restrict(c);
	return true;
}

// Returns the communicator with an id, or NULL.
static struct gompi_comm *comm_of_id(uint64_t id) {
	struct gompi_table_entries *t = gompi_load_acquire(&gompi_comms.entries);
	for (uintptr_t i = 0; i <= t->mask; i++) {
		struct gompi_comm *c = gompi_load(&t->entry[i].object);
		if (c != NULL && c->id == id && c->handle == gompi_load_acquire(&t->entry[i].handle))
			return c;
	}
	if (gompi_comm_world.id == id && gompi_comm_world.handle != 0)
		return &gompi_comm_world;
	return gompi_comm_self.id == id && gompi_comm_self.handle != 0 ? &gompi_comm_self : NULL;
}

bool gompi_comm_revoke_by_id(uint64_t id, struct gompi_comm_members *members) {
	gompi_mutex_lock(
		&gompi_failures_lock); // no communicator is created between the look-up and the storing of its id
	struct gompi_comm *c = comm_of_id(id);
	const bool is_revoked_now = c != NULL && gompi_comm_mark_revoked(c);
	if (c == NULL)
		gompi_revoked_id_add(id);
	if (is_revoked_now) {
		gompi_ranks_share(&members->peers, &c->peers);
		if (c->is_inter)
			gompi_ranks_share(&members->locals, &c->members);
	}
	gompi_mutex_unlock(&gompi_failures_lock);
	return is_revoked_now;
}

int gompi_fault_class(int class, uintptr_t object) {
	if (class != MPI_ERR_PROC_ABORTED)
		return class;
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)object);
	if (c != NULL && gompi_load(&c->is_revoked) != 0)
		return MPIX_ERR_REVOKED;
	if (!gompi_node.is_fault_tolerant)
		return class;
	if (c != NULL)
		gompi_comm_note_failures(c);
	return MPIX_ERR_PROC_FAILED;
}

int gompi_comm_check_usable(uintptr_t handle, bool only_revoked, struct gompi_error_status *v) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	if (c == NULL || gompi_load(&c->usable_handle) != 0)
		return MPI_SUCCESS;
	if (gompi_load(&c->is_revoked) != 0)
		return gompi_set_error(v, MPIX_ERR_REVOKED, "the communicator has been revoked");
	if (only_revoked || !gompi_comm_note_failures(c))
		return MPI_SUCCESS;
	gompi_note_failed(gompi_comm_member(c, c->failures->member[0]));
	return gompi_set_error(v, MPI_ERR_PROC_ABORTED, "%s", gompi_failure_text());
}

void gompi_comm_failed_flags(uintptr_t handle, bool only_acked, unsigned char *failed) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	gompi_mutex_lock(&gompi_failures_lock);
	const struct gompi_comm_failures *f = c == NULL ? NULL : update_locked(c);
	for (int i = 0; f != NULL && i < (only_acked ? f->acked : f->count); i++)
		failed[f->member[i]] = 1;
	gompi_mutex_unlock(&gompi_failures_lock);
}

// --- The calls

static int raise_null(const char *call, const char *what, MPI_Comm comm) {
	return gompi_null_argument_error(call, what, GOMPI_ON_COMM, (uintptr_t)comm);
}

int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPIX_Comm_is_revoked");
	if (flag == NULL)
		return raise_null("MPIX_Comm_is_revoked", "flag", comm);
	gompi_serve();
	*flag = gompi_load(&c->is_revoked) != 0;
	return MPI_SUCCESS;
}

// Acknowledges the first n failures; more if more are acknowledged already. Returns the number of acknowledged ones.
static int acknowledge(struct gompi_comm *c, int n) {
	gompi_mutex_lock(&gompi_failures_lock);
	struct gompi_comm_failures *f = update_locked(c);
	if (f != NULL && n > f->acked)
		f->acked = n < f->count ? n : f->count;
	n = f != NULL ? f->acked : 0;
	gompi_mutex_unlock(&gompi_failures_lock);
	return n;
}

int MPIX_Comm_failure_ack(MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPIX_Comm_failure_ack");
	acknowledge(c, INT32_MAX);
	return MPI_SUCCESS;
}

int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPIX_Comm_ack_failed");
	if (num_acked == NULL)
		return raise_null("MPIX_Comm_ack_failed", "num_acked", comm);
	*num_acked = acknowledge(c, num_to_ack);
	return MPI_SUCCESS;
}

// Stores the group of the failed members, or only of the acknowledged ones.
static int store_failed(const char *call, MPI_Comm comm, bool only_acked, MPI_Group *group) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	if (group == NULL)
		return raise_null(call, "failedgrp", comm);
	struct gompi_ranks failed = {.session = c->peers.session};
	bool stored = true;
	gompi_mutex_lock(&gompi_failures_lock);
	const struct gompi_comm_failures *f = update_locked(c);
	const int n = f == NULL ? 0 : only_acked ? f->acked : f->count;
	for (int i = 0; i < n && stored; i++)
		stored = gompi_ranks_append(&failed, gompi_comm_member(c, f->member[i]), n);
	gompi_mutex_unlock(&gompi_failures_lock);
	if (!stored) {
		gompi_ranks_release(&failed);
		return gompi_raise_no_group_memory(call, GOMPI_ON_COMM, (uintptr_t)comm);
	}
	return gompi_group_create(call, &failed, group);
}

int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp) {
	return store_failed("MPIX_Comm_get_failed", comm, false, failedgrp);
}

int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp) {
	return store_failed("MPIX_Comm_failure_get_acked", comm, true, failedgrp);
}

int MPIX_Comm_agree(MPI_Comm comm, int *flag) {
	if (flag == NULL)
		return raise_null("MPIX_Comm_agree", "flag", comm);
	return gompi_go_callbacks.comm_agree((uintptr_t)comm, (uintptr_t)flag, 0);
}

int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request) {
	if (flag == NULL || request == NULL)
		return raise_null("MPIX_Comm_iagree", "flag or request", comm);
	return gompi_go_callbacks.comm_agree((uintptr_t)comm, (uintptr_t)flag, (uintptr_t)request);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm) {
	if (newcomm == NULL)
		return raise_null("MPIX_Comm_shrink", "newcomm", comm);
	return gompi_go_callbacks.comm_shrink((uintptr_t)comm, (uintptr_t)newcomm, 0);
}

int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
	if (newcomm == NULL || request == NULL)
		return raise_null("MPIX_Comm_ishrink", "newcomm or request", comm);
	return gompi_go_callbacks.comm_shrink((uintptr_t)comm, (uintptr_t)newcomm, (uintptr_t)request);
}
