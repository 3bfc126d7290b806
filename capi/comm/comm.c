#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/node.h"
#include "base/error_status.h"
#include "comm/revoked_ids.h"
#include "comm/z_calls.h"
#include "info/info.h"

struct gompi_table gompi_comms = {.entries = &gompi_table_empty}, gompi_usable_comms = {.entries = &gompi_table_empty};
static struct gompi_free_list free_comms = {sizeof(struct gompi_comm), offsetof(struct gompi_comm, next), NULL};
struct gompi_comm gompi_comm_world, gompi_comm_self;

// Fills in c from `from`, except the handle, because setting the handle makes the descriptor live. Returns false if out
// of memory.
static bool fill_comm(struct gompi_comm *c, const struct gompi_comm *from) {
	// the descriptor may be reused: release the lists of ranks of its previous communicator
	gompi_ranks_release(&c->peers);
	gompi_ranks_release(&c->members);
	if (!gompi_ranks_copy(&c->peers, &from->peers))
		return false;
	if (!from->is_inter)
		gompi_ranks_share(&c->members, &c->peers);
	else if (!gompi_ranks_copy(&c->members, &from->members))
		return false;
	struct gompi_ranks peers = c->peers, members = c->members;
	size_t length = gompi_topology_length(&from->topology);
	int32_t *ranks = c->topology.ranks;
	if (length > 0) {
		int32_t *list = realloc(ranks, length * sizeof *list);
		if (list == NULL)
			return false;
		ranks = memcpy(list, from->topology.ranks, length * sizeof *list);
	}
	*c = *from;
	c->handle = 0;
	gompi_store(&c->usable_handle, 0);
	c->peers = peers;
	c->members = members;
	c->topology.ranks = ranks;
	gompi_errhandler_init(&c->errhandler, from->errhandler.handle);
	return true;
}

struct gompi_comm *gompi_comm_open(const struct gompi_comm *from) {
	uintptr_t handle = from->handle;
	bool world = handle == (uintptr_t)MPI_COMM_WORLD, self = handle == (uintptr_t)MPI_COMM_SELF;
	struct gompi_comm *c = world ? &gompi_comm_world : self ? &gompi_comm_self : gompi_free_list_alloc(&free_comms);
	bool opened = c != NULL && fill_comm(c, from);
	if (opened) {
		c->handle = handle;
		gompi_store(&c->usable_handle, handle);
		// first gompi_usable_comms: a revocation may find the communicator in gompi_comms at once
		opened = world || self || gompi_table_put(&gompi_usable_comms, handle, c) != NULL;
		if (opened && !world && !self && gompi_table_put(&gompi_comms, handle, c) == NULL) {
			gompi_table_remove(&gompi_usable_comms, handle);
			opened = false;
		}
	}
	if (opened) {
		if (gompi_revoked_id_exists(c->id)) {
			gompi_store(&c->is_revoked, 1);
			gompi_comm_restrict(c);
			// waits look for a revocation only if failed_count is not 0
			gompi_add(&gompi_node_header()->revocation_count, 1);
			gompi_add_seq_cst(&gompi_node_header()->failed_count, 1);
		}
		gompi_my_cell()->comms_address = (uintptr_t)&gompi_comms;
		gompi_my_cell()->comm_world_address = (uintptr_t)&gompi_comm_world;
		return c;
	}
	if (c != NULL && !world && !self)
		gompi_free_list_put(&free_comms, c);
	return NULL;
}

void gompi_comm_restrict(struct gompi_comm *c) {
	uintptr_t usable = c->handle;
	if (gompi_cas_strong(&c->usable_handle, &usable, 0) && c != &gompi_comm_world && c != &gompi_comm_self)
		gompi_table_remove(&gompi_usable_comms, c->handle);
}

void gompi_comm_close(uintptr_t handle) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	if (c == NULL)
		return;
	gompi_mutex_lock(&gompi_failures_lock); // another thread may handle a revocation
	gompi_comm_restrict(c);
	c->handle = 0;
	free(c->failures);
	c->failures = NULL;
	gompi_mutex_unlock(&gompi_failures_lock);
	gompi_attributes_free(gompi_load(&c->attributes));
	gompi_store(&c->attributes, NULL);
	gompi_errhandler_detach(&c->errhandler);
	if (c->hints.alloc_kinds != NULL) {
		gompi_info_lock();
		free(c->hints.alloc_kinds);
		c->hints.alloc_kinds = NULL;
		gompi_info_unlock();
	}
	gompi_group_disown(&c->group);
	gompi_group_disown(&c->remote_group);
	if (c != &gompi_comm_world && c != &gompi_comm_self)
		gompi_free_list_put(&free_comms, gompi_table_remove(&gompi_comms, handle));
}

uintptr_t gompi_comm_errhandler(uintptr_t handle) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)handle);
	return c == NULL ? (uintptr_t)MPI_ERRORS_ARE_FATAL : gompi_errhandler_acquire(&c->errhandler);
}

int gompi_comm_invalid(struct gompi_error_status *v, MPI_Comm comm) {
	if (comm == MPI_COMM_NULL)
		return gompi_set_error(v, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
	return gompi_set_error(v, MPI_ERR_COMM, "%#llx is not a communicator, or has been freed",
			       (unsigned long long)(uintptr_t)comm);
}

int gompi_raise_invalid_comm(MPI_Comm comm, const char *call) {
	struct gompi_error_status v;
	gompi_comm_invalid(&v, comm);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_comm_rank(MPI_Comm comm, int *rank) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_rank");
	if (rank == NULL)
		return gompi_return_error(MPI_ERR_ARG, "MPI_Comm_rank", "rank is NULL", GOMPI_ON_COMM, (uintptr_t)comm);
	*rank = c->rank;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_rank, gompi_comm_rank);

int gompi_comm_size(MPI_Comm comm, int *size) {
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, "MPI_Comm_size");
	if (size == NULL)
		return gompi_return_error(MPI_ERR_ARG, "MPI_Comm_size", "size is NULL", GOMPI_ON_COMM, (uintptr_t)comm);
	*size = c->size;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_size, gompi_comm_size);
