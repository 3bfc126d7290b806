// The table of window descriptors: Go creates and destroys them, every call of chapter 12 reads them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/loss.h"
#include "base/sparse.h"
#include "fabric/leaders.h"
#include "win/epoch.h"
#include "win/win_table.h"

_Static_assert(sizeof(struct gompi_target) == 32, "32 bytes a member in each process: docs/SCALING.md");
_Static_assert(sizeof(struct gompi_win_remote) == 32,
	       "32 bytes a member on each node if the window spans nodes: docs/SCALING.md");
_Static_assert(sizeof(struct gompi_barrier) + sizeof(struct gompi_barrier_member) == GOMPI_BARRIER_SIZE(1),
	       "core/shm.BarrierSize");

struct gompi_win_table gompi_win_table;

// Makes the handle 0, the value of an uninitialized handle, invalid. Runs before any call.
static __attribute__((constructor)) void no_window_0(void) { gompi_store(&gompi_win_table.handle[0], UINTPTR_MAX); }

// Descriptors without a window. The SPARES most recently closed ones keep their content: a late, erroneous call on
// another thread then reads the old content and not memory that is in use for something else. The older ones are empty
// and can be reused.
enum { SPARES = 16 };
static struct {
	pthread_mutex_t mu;
	struct gompi_win *first, **end; // those that keep their content, the oldest first
	unsigned number;
	struct gompi_win *empty;
} spare = {.mu = PTHREAD_MUTEX_INITIALIZER, .end = &spare.first};

void (*gompi_win_closing)(struct gompi_win *w);
void (*gompi_win_emptying)(struct gompi_win *w);

// Returns the size of the table of targets: whole cache lines, so that no line is shared with other data.
static size_t targets_bytes(size_t n) {
	return (n * sizeof(struct gompi_target) + GOMPI_LINE - 1) / GOMPI_LINE * GOMPI_LINE;
}

// Frees the content of a descriptor's last window.
static void empty_slot(struct gompi_win *w) {
	if (gompi_win_emptying != NULL)
		gompi_win_emptying(w);
	gompi_sparse_give(w->targets, targets_bytes(w->n));
	gompi_sparse_give(w->own, sizeof *w->own * w->n);
	free(w->ranks);
	gompi_sparse_give(w->attached, sizeof *w->attached * w->n);
	free(w->empty.at);
	free(w->hints.kinds);
	free(w->hints.shared);
	gompi_sparse_give(w->parts, sizeof *w->parts * w->n);
	gompi_sparse_give(gompi_load_total(&w->sent), sizeof *w->sent * w->n);
	free(w->start_group.ranks);
	free(w->post_group.ranks);
	gompi_ranks_drop(&w->members);
	memset(w, 0, sizeof *w);
}

// Returns a zeroed descriptor, or NULL if out of memory.
static struct gompi_win *take_slot(void) {
	pthread_mutex_lock(&spare.mu);
	struct gompi_win *w = spare.empty;
	if (w != NULL)
		spare.empty = w->next;
	pthread_mutex_unlock(&spare.mu);
	if (w == NULL)
		w = aligned_alloc(GOMPI_LINE, (sizeof *w + GOMPI_LINE - 1) / GOMPI_LINE * GOMPI_LINE);
	if (w != NULL)
		memset(w, 0, sizeof *w);
	return w;
}

// Releases a descriptor, which keeps its content for a while, and empties the oldest one if there are more than SPARES.
static void give_slot(struct gompi_win *w) {
	w->next = NULL;
	pthread_mutex_lock(&spare.mu);
	*spare.end = w;
	spare.end = &w->next;
	if (++spare.number > SPARES) {
		struct gompi_win *oldest = spare.first;
		spare.first = oldest->next;
		spare.number--;
		empty_slot(oldest);
		oldest->next = spare.empty;
		spare.empty = oldest;
	}
	pthread_mutex_unlock(&spare.mu);
}

// Stores the plan of the member of this node with a local index.
static void set_member(struct gompi_win *w, int local, const struct gompi_member_plan *plan) {
	uint64_t reach = plan->direct ? plan->size : plan->part.from == 0 ? plan->part.to : 0;
	if (w->parts != NULL && !plan->direct)
		w->parts[plan->rank] = plan->part;
	w->targets[plan->rank] = (struct gompi_target){.base = (char *)plan->base,
						       .reach = reach,
						       .reach8 = reach >= 8 ? reach - 7 : 0,
						       .disp_unit = (uint32_t)plan->disp_unit,
						       .state = TARGET_NEAR | (plan->direct ? TARGET_DIRECT : 0)};
	// All members of the node write the same values to this shared entry.
	struct gompi_win_member *m = gompi_member(w, plan->rank);
	m->address = plan->address;
	m->size = plan->size;
	m->peer = plan->peer;
	m->local = local;
	if (w->ranks != NULL)
		w->ranks[local] = plan->rank;
}

// Allocates the tables of a descriptor. Returns false if out of memory.
static bool make_tables(struct gompi_win *w, const struct gompi_win_plan *plan,
			const struct gompi_member_plan *members) {
	const size_t n = (size_t)plan->n, local_n = (size_t)plan->local_n;
	bool parts = false;
	for (size_t i = 0; i < local_n; i++)
		parts |= !members[i].direct && members[i].part.from < members[i].part.to;
	if ((w->targets = gompi_sparse_take(targets_bytes(n))) == NULL || !gompi_ranks_copy(&w->members, &plan->group))
		return false;
	if (parts && (w->parts = gompi_sparse_take(sizeof *w->parts * n)) == NULL)
		return false;
	if (local_n < n) {
		w->remote = (struct gompi_win_remote *)plan->remote;
		if (w->remote == NULL && (w->remote = w->own = gompi_sparse_take(sizeof *w->own * n)) == NULL)
			return false;
		if ((w->ranks = calloc(local_n, sizeof *w->ranks)) == NULL)
			return false;
	}
	return plan->flavor != MPI_WIN_FLAVOR_DYNAMIC ||
	       (w->attached = gompi_sparse_take(sizeof *w->attached * n)) != NULL;
}

bool gompi_win_open(const struct gompi_win_plan *plan, const struct gompi_member_plan *members) {
	struct gompi_win *w = take_slot();
	if (w == NULL) {
		free(plan->hints.kinds);
		free(plan->hints.shared);
		return false;
	}
	w->hints = plan->hints;
	w->n = (uint32_t)plan->n;
	if (!make_tables(w, plan, members)) {
		give_slot(w);
		return false;
	}
	const size_t line = sizeof(struct gompi_win_member);
	int local_n = plan->local_n, lowest = members[0].rank, lines = members[local_n - 1].rank - lowest + 1;
	w->me = plan->me;
	w->local_n = local_n;
	w->partner = -1;
	w->shared = (struct gompi_win_shared *)(plan->shared - (size_t)lowest * line);
	w->barrier = (struct gompi_barrier *)(plan->shared + (size_t)lines * line);
	w->posts = (_Atomic uint8_t *)w->barrier + GOMPI_BARRIER_SIZE(local_n);
	w->model = MPI_WIN_UNIFIED;
	gompi_errhandler_begin(&w->raises, (uintptr_t)MPI_ERRORS_ARE_FATAL);
	w->locks_in_order = gompi_fabric_is_open() || plan->local_n < plan->n;
	w->flush_more =
		(gompi_node.policy.oversubscribed ? FLUSH_POLL : 0) | (plan->local_n < plan->n ? FLUSH_NODES : 0);
	for (int i = 0; i < local_n; i++)
		set_member(w, i, &members[i]);
	w->local_me = gompi_win_index(w, w->me);
	const struct gompi_member_plan *own = &members[w->local_me];
	w->base = (void *)own->base;
	w->size = (MPI_Aint)own->size;
	w->disp_unit = own->disp_unit;
	w->flavor = plan->flavor;
	if (w->attached != NULL)
		gompi_store(&w->attached[w->me], (struct gompi_attached *)plan->attached);
	w->attached_bytes = plan->attached_bytes;
	w->may = plan->may;
	w->told = (struct gompi_told_hints *)plan->told;
	gompi_store_total(&w->granularity, plan->hints.common.granularity);
	w->handle = plan->handle;
	gompi_my_cell()->windows = (uintptr_t)&gompi_win_table;
	size_t index = plan->handle % GOMPI_WIN_INDICES;
	gompi_win_table.slot[index] = w;
	gompi_store_release(&gompi_win_table.handle[index], plan->handle); // pairs with gompi_win_get
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
	gompi_leaders_close(w->leaders);
	w->leaders = NULL;
	gompi_attributes_close(gompi_load(&w->attributes));
	gompi_store(&w->attributes, NULL);
	gompi_errhandler_leave(&w->raises);
	gompi_group_disown(&w->group);
	if (gompi_win_closing != NULL)
		gompi_win_closing(w);
	give_slot(w);
}

int gompi_win_may_free(uintptr_t handle, struct gompi_verdict *v) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return gompi_error(v, MPI_ERR_WIN,
				   (MPI_Win)handle == MPI_WIN_NULL ? "the window is MPI_WIN_NULL"
								   : "%#lx is not a window, or has been freed",
				   (unsigned long)handle);
	return gompi_epoch(w, EPOCH_FREE, GOMPI_ALL, v);
}

// Executes a barrier of the members on this node of a window that spans nodes. Between its halves, member 0 executes a
// barrier of the node leaders unless leaders is NULL.
static int barrier_over(struct gompi_win *w, const struct gompi_waiting *what, struct gompi_leaders *leaders) {
	int rc = gompi_barrier_gather(w->barrier, w->local_n, w->local_me, &w->barriers, what);
	if (rc == MPI_SUCCESS && leaders != NULL)
		rc = gompi_leaders_barrier(leaders, what);
	return rc == MPI_SUCCESS ? gompi_barrier_release(w->barrier, w->local_n, w->local_me, w->barriers, what) : rc;
}

int gompi_win_barrier_of(uintptr_t handle, bool of_node) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return MPI_ERR_WIN;
	struct gompi_waiting what = {.call = gompi_call, .peer = -1, .object = handle};
	return of_node ? barrier_over(w, &what, NULL) : gompi_win_barrier(w, &what);
}

bool gompi_win_lead(uintptr_t handle, int nodes, int me, const int32_t *leaders) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	if (w == NULL)
		return false;
	if (nodes == 2 && w->local_n == 1)
		w->partner = leaders[1 - me];
	w->leaders = gompi_leaders_open(gompi_leaders_id(LEADERS_WIN, handle), nodes, me, leaders);
	return w->leaders != NULL;
}

int gompi_win_barrier(struct gompi_win *w, const struct gompi_waiting *what) {
	if (w->remote == NULL)
		return gompi_win_node_barrier(w, what);
	return barrier_over(w, what, w->leaders);
}

int gompi_win_lost_here(const struct gompi_win *w) {
	for (int i = 0; i < w->local_n; i++) {
		int peer = gompi_member(w, gompi_win_local(w, i))->peer;
		if (gompi_is_lost(peer))
			return peer;
	}
	return GOMPI_NOBODY;
}
