// The table of window descriptors: Go creates and destroys the descriptors, and every call of chapter 12 reads them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/sparse.h"
#include "win/counts.h"
#include "win/epoch.h"
#include "win/win_table.h"

_Static_assert(sizeof(struct gompi_target) == 32, "32 bytes a member in each process: docs/SCALING.md");
_Static_assert(sizeof(struct gompi_win_remote) == 32,
	       "32 bytes a member on each node if the window spans nodes: docs/SCALING.md");
_Static_assert(sizeof(struct gompi_barrier) + sizeof(struct gompi_barrier_member) == GOMPI_BARRIER_SIZE(1),
	       "core/shm.BarrierSize");

struct gompi_win_table gompi_win_table;
gompi_a32 gompi_win_count;

// Makes the handle 0, the value of an uninitialized handle, invalid. Runs before any call.
static __attribute__((constructor)) void invalidate_index_0(void) {
	gompi_store(&gompi_win_table.handle[0], UINTPTR_MAX);
}

// Descriptors without a window. The MAX_RETIRED_WINDOWS descriptors that were closed last keep their content. So a
// late, erroneous call on another thread reads the old content, and not memory that is in use for something else. The
// descriptors on free_list are empty and can be reused.
enum { MAX_RETIRED_WINDOWS = 16 };
static struct {
	pthread_mutex_t mu;
	struct gompi_win *first, **end; // the descriptors that keep their content, the oldest first
	unsigned count;
	struct gompi_win *free_list;
} retired_windows = {.mu = PTHREAD_MUTEX_INITIALIZER, .end = &retired_windows.first};

void (*gompi_win_close_hook)(struct gompi_win *w);
void (*gompi_win_clear_hook)(struct gompi_win *w);

// Returns the size of the table of targets: whole cache lines, so that no line is shared with other data.
static size_t targets_bytes(size_t n) {
	return (n * sizeof(struct gompi_target) + GOMPI_CACHE_LINE - 1) / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE;
}

// Frees the content of a descriptor's last window.
static void clear_descriptor(struct gompi_win *w) {
	if (gompi_win_clear_hook != NULL)
		gompi_win_clear_hook(w);
	gompi_sparse_free(w->targets, targets_bytes(w->n));
	gompi_sparse_free(w->private_remote, sizeof *w->private_remote * w->n);
	free(w->ranks);
	gompi_sparse_free(w->attached, sizeof *w->attached * w->n);
	free(w->empty_regions.at);
	free(w->hints.kinds);
	free(w->hints.shared_in_place);
	gompi_sparse_free(w->mapped_ranges, sizeof *w->mapped_ranges * w->n);
	gompi_sparse_free(gompi_load_seq_cst(&w->ring_sent), sizeof *w->ring_sent * w->n);
	free(w->start_group.ranks);
	free(w->post_group.ranks);
	gompi_ranks_release(&w->members);
	gompi_tool_counts_release(gompi_load(&w->tool_counts));
	memset(w, 0, sizeof *w);
}

// Returns a zeroed descriptor, or NULL if out of memory.
static struct gompi_win *alloc_descriptor(void) {
	pthread_mutex_lock(&retired_windows.mu);
	struct gompi_win *w = retired_windows.free_list;
	if (w != NULL)
		retired_windows.free_list = w->next;
	pthread_mutex_unlock(&retired_windows.mu);
	if (w == NULL)
		w = aligned_alloc(GOMPI_CACHE_LINE,
				  (sizeof *w + GOMPI_CACHE_LINE - 1) / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE);
	if (w != NULL)
		memset(w, 0, sizeof *w);
	return w;
}

// Retires a descriptor, which keeps its content. If more than MAX_RETIRED_WINDOWS descriptors are retired, clears the
// oldest one and puts it on the free list.
static void retire_descriptor(struct gompi_win *w) {
	w->next = NULL;
	pthread_mutex_lock(&retired_windows.mu);
	*retired_windows.end = w;
	retired_windows.end = &w->next;
	if (++retired_windows.count > MAX_RETIRED_WINDOWS) {
		struct gompi_win *oldest = retired_windows.first;
		retired_windows.first = oldest->next;
		retired_windows.count--;
		clear_descriptor(oldest);
		oldest->next = retired_windows.free_list;
		retired_windows.free_list = oldest;
	}
	pthread_mutex_unlock(&retired_windows.mu);
}

// Stores the data that Go has planned for the member with index local_rank on this node.
static void set_member(struct gompi_win *w, int local_rank, const struct gompi_member_plan *plan) {
	uint64_t mapped_bytes = plan->direct ? plan->size : plan->mapped_range.from == 0 ? plan->mapped_range.to : 0;
	if (w->mapped_ranges != NULL && !plan->direct)
		w->mapped_ranges[plan->rank] = plan->mapped_range;
	w->targets[plan->rank] = (struct gompi_target){.base = (char *)plan->base,
						       .mapped_bytes = mapped_bytes,
						       .offset_limit_8b = mapped_bytes >= 8 ? mapped_bytes - 7 : 0,
						       .disp_unit = (uint32_t)plan->disp_unit,
						       .state = TARGET_LOCAL | (plan->direct ? TARGET_DIRECT : 0)};
	// All members of the node write the same values to this shared entry.
	struct gompi_win_member *m = gompi_member(w, plan->rank);
	m->address = plan->address;
	m->size = plan->size;
	m->peer = plan->peer;
	m->local_rank = local_rank;
	if (w->ranks != NULL)
		w->ranks[local_rank] = plan->rank;
}

// Allocates the tables of a descriptor. Returns false if out of memory.
static bool alloc_tables(struct gompi_win *w, const struct gompi_win_plan *plan,
			 const struct gompi_member_plan *members) {
	const size_t n = (size_t)plan->n, local_size = (size_t)plan->local_size;
	bool has_ranges = false;
	for (size_t i = 0; i < local_size; i++)
		has_ranges |= !members[i].direct && members[i].mapped_range.from < members[i].mapped_range.to;
	if ((w->targets = gompi_sparse_alloc(targets_bytes(n))) == NULL || !gompi_ranks_copy(&w->members, &plan->group))
		return false;
	if (has_ranges && (w->mapped_ranges = gompi_sparse_alloc(sizeof *w->mapped_ranges * n)) == NULL)
		return false;
	if (local_size < n) {
		w->remote = (struct gompi_win_remote *)plan->remote;
		if (w->remote == NULL &&
		    (w->remote = w->private_remote = gompi_sparse_alloc(sizeof *w->private_remote * n)) == NULL)
			return false;
		if ((w->ranks = calloc(local_size, sizeof *w->ranks)) == NULL)
			return false;
	}
	return plan->flavor != MPI_WIN_FLAVOR_DYNAMIC ||
	       (w->attached = gompi_sparse_alloc(sizeof *w->attached * n)) != NULL;
}

bool gompi_win_open(const struct gompi_win_plan *plan, const struct gompi_member_plan *members) {
	struct gompi_win *w = alloc_descriptor();
	if (w == NULL) {
		free(plan->hints.kinds);
		free(plan->hints.shared_in_place);
		return false;
	}
	w->hints = plan->hints;
	w->n = (uint32_t)plan->n;
	if (!alloc_tables(w, plan, members)) {
		retire_descriptor(w);
		return false;
	}
	const size_t entry_bytes = sizeof(struct gompi_win_member);
	int local_size = plan->local_size, lowest = members[0].rank,
	    ranks_spanned = members[local_size - 1].rank - lowest + 1;
	w->me = plan->me;
	w->local_size = local_size;
	w->partner = -1;
	w->shared = (struct gompi_win_shared *)(plan->shared - (size_t)lowest * entry_bytes);
	w->barrier = (struct gompi_barrier *)(plan->shared + (size_t)ranks_spanned * entry_bytes);
	w->posts = (_Atomic uint8_t *)w->barrier + GOMPI_BARRIER_SIZE(local_size);
	if (gompi_node.is_fault_tolerant)
		w->shared_locks =
			(gompi_a32 *)(void *)(w->posts + ((size_t)local_size * (size_t)local_size + 3) / 4 * 4);
	w->model = MPI_WIN_UNIFIED;
	gompi_errhandler_init(&w->errhandler, (uintptr_t)MPI_ERRORS_ARE_FATAL);
	w->needs_ordered_locks = gompi_fabric_is_open() || plan->local_size < plan->n || gompi_node.is_fault_tolerant;
	w->flush_flags = (gompi_node.policy.is_oversubscribed ? FLUSH_MAY_POLL : 0) |
			 (plan->local_size < plan->n ? FLUSH_SPANS_NODES : 0);
	for (int i = 0; i < local_size; i++)
		set_member(w, i, &members[i]);
	w->local_rank = gompi_win_local_rank(w, w->me);
	const struct gompi_member_plan *local_plan = &members[w->local_rank];
	w->base = (void *)local_plan->base;
	w->size = (MPI_Aint)local_plan->size;
	w->disp_unit = local_plan->disp_unit;
	w->flavor = plan->flavor;
	if (w->attached != NULL)
		gompi_store(&w->attached[w->me], (struct gompi_attached_regions *)plan->attached);
	w->attached_bytes = plan->attached_bytes;
	w->allowed_promises = plan->allowed_promises;
	w->exchanged_hints = (struct gompi_hints_message *)plan->exchanged_hints;
	gompi_store_seq_cst(&w->granularity, plan->hints.common.granularity);
	w->handle = plan->handle;
	gompi_my_cell()->windows_address = (uintptr_t)&gompi_win_table;
	size_t index = plan->handle % GOMPI_WIN_INDICES;
	gompi_win_table.descriptor[index] = w;
	gompi_store_release(&gompi_win_table.handle[index], plan->handle); // pairs with gompi_win_get
	gompi_add(&gompi_win_count, 1);
	return true;
}

bool gompi_win_register(uintptr_t at, uint64_t bytes, struct gompi_region *region) {
	return gompi_fabric_is_open() && gompi_fabric_register((void *)at, bytes, true, region) == MPI_SUCCESS;
}

void gompi_win_set_members(uintptr_t handle, int first, int count, const struct gompi_remote_plan *members) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	for (int i = 0; w != NULL && w->remote != NULL && i < count; i++)
		w->remote[first + i] = (struct gompi_win_remote){
			.size = members[i].size, .peer = members[i].peer, .disp_unit = (uint32_t)members[i].disp_unit};
}

void gompi_win_set_regions(uintptr_t handle, int first, int count, const struct gompi_region *regions) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	for (int i = 0; w != NULL && w->remote != NULL && i < count; i++)
		w->remote[first + i].region = regions[i];
}

void gompi_win_close(uintptr_t handle) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return;
	gompi_store(&gompi_win_table.handle[handle % GOMPI_WIN_INDICES], 0);
	gompi_sub(&gompi_win_count, 1);
	if (w->counts != NULL)
		gompi_sub(&gompi_counting, 1);
	gompi_attributes_free(gompi_load(&w->attributes));
	gompi_store(&w->attributes, NULL);
	gompi_errhandler_detach(&w->errhandler);
	gompi_group_disown(&w->group);
	if (gompi_win_close_hook != NULL)
		gompi_win_close_hook(w);
	retire_descriptor(w);
}

int gompi_win_check_free(uintptr_t handle, struct gompi_error_status *v) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return gompi_set_error(v, MPI_ERR_WIN,
				       (MPI_Win)handle == MPI_WIN_NULL ? "the window is MPI_WIN_NULL"
								       : "%#lx is not a window, or has been freed",
				       (unsigned long)handle);
	return gompi_epoch_enter_call(w, EPOCH_FREE, GOMPI_ALL, v);
}

int gompi_win_failed_local(const struct gompi_win *w) {
	for (int i = 0; i < w->local_size; i++) {
		int peer = gompi_member(w, gompi_win_rank_of_local(w, i))->peer;
		if (gompi_is_failed(peer))
			return peer;
	}
	return GOMPI_NONE_FAILED;
}
