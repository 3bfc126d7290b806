// Creation and release of groups, and the query calls (MPI-5.0 7.3.1). Groups belong to no communicator, so errors are
// raised on MPI_COMM_SELF. Nothing blocks or communicates.
#include "group/group.h"

#include "base/node.h"
#include "base/state.h"
#include "base/error_status.h"
#include "group/z_calls.h"

struct gompi_object_pool gompi_groups = GOMPI_OBJECT_POOL(GOMPI_KIND_GROUP, struct gompi_group);
struct gompi_group gompi_group_empty = {.rank = MPI_UNDEFINED};
gompi_a64 gompi_groups_version;

int gompi_raise_invalid_group(MPI_Group group, const char *call) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_GROUP,
			group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
						: "%#llx is not a group, or has been freed",
			(unsigned long long)(uintptr_t)group);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_raise_no_group_memory(const char *call, int kind, uintptr_t object) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_NO_MEM,
			"cannot create a group: out of memory, or the maximum of %d groups is reached",
			GOMPI_KIND_MAX_LIVE);
	return gompi_return_error(v.class, call, v.text, kind, object);
}

// The callers of the following four functions hold gompi_groups.lock.

// Adds one to pending_frees, and assigns a handle if the group has none. Returns false if no handle is available.
static inline bool add_handle_reference(struct gompi_group *g) {
	if (__builtin_expect(g->pending_frees == 0, 1) &&
	    (g->handle = gompi_handles_add(&gompi_groups.handles, g)) == 0)
		return false;
	g->pending_frees++;
	return true;
}

// Returns a new group with the given members, or NULL if out of memory.
static __attribute__((noinline)) struct gompi_group *new_group(const struct gompi_ranks *members, bool owned) {
	struct gompi_group *g = gompi_pool_alloc(&gompi_groups);
	if (g != NULL) {
		g->ranks = *members;
		g->rank = GOMPI_RANK_UNKNOWN;
		g->pending_frees = 0;
		g->has_owner = owned;
	}
	return g;
}

static void destroy_group(struct gompi_group *g) {
	gompi_ranks_release(&g->ranks);
	gompi_pool_free(&gompi_groups, g);
}

// Returns a new group owned by an object, or NULL if out of memory.
static __attribute__((noinline)) struct gompi_group *new_owned_group(const struct gompi_ranks *members) {
	struct gompi_ranks ranks = {0};
	gompi_ranks_share(&ranks, members);
	struct gompi_group *g = new_group(&ranks, true);
	if (g == NULL)
		gompi_ranks_release(&ranks);
	return g;
}

int gompi_group_acquire(struct gompi_group **owned, const struct gompi_ranks *members, MPI_Group *group) {
	if (__builtin_expect(members->n == 0, 0)) {
		*group = MPI_GROUP_EMPTY;
		return MPI_SUCCESS;
	}
	gompi_biased_lock(&gompi_groups.lock);
	struct gompi_group *g = *owned;
	if (__builtin_expect(g == NULL, 0))
		g = *owned = new_owned_group(members);
	if (__builtin_expect(g == NULL || !add_handle_reference(g), 0)) {
		gompi_biased_unlock(&gompi_groups.lock);
		return MPI_ERR_NO_MEM;
	}
	*group = (MPI_Group)g->handle;
	gompi_biased_unlock(&gompi_groups.lock);
	return MPI_SUCCESS;
}

void gompi_group_disown(struct gompi_group **owned) {
	if (*owned == NULL)
		return;
	gompi_biased_lock(&gompi_groups.lock);
	(*owned)->has_owner = false;
	if ((*owned)->pending_frees == 0)
		destroy_group(*owned);
	*owned = NULL;
	gompi_biased_unlock(&gompi_groups.lock);
}

int gompi_group_create(const char *call, struct gompi_ranks *members, MPI_Group *newgroup) {
	if (newgroup == NULL) {
		gompi_ranks_release(members);
		return gompi_null_argument_error(call, "newgroup", GOMPI_ON_NONE, 0);
	}
	if (members->n == 0) {
		*newgroup = MPI_GROUP_EMPTY;
		return MPI_SUCCESS;
	}
	gompi_biased_lock(&gompi_groups.lock);
	struct gompi_group *g = new_group(members, false);
	bool held = g != NULL && add_handle_reference(g);
	if (held)
		*newgroup = (MPI_Group)g->handle;
	else if (g != NULL)
		destroy_group(g);
	else
		gompi_ranks_release(members);
	gompi_biased_unlock(&gompi_groups.lock);
	return held ? MPI_SUCCESS : gompi_raise_no_group_memory(call, GOMPI_ON_NONE, 0);
}

int gompi_group_free(MPI_Group *group) {
	static const char call[] = "MPI_Group_free";
	if (group == NULL)
		return gompi_null_argument_error(call, "group", GOMPI_ON_NONE, 0);
	if (__builtin_expect(*group != MPI_GROUP_EMPTY, 1)) {
		gompi_biased_lock(&gompi_groups.lock);
		struct gompi_table_entry *e = gompi_table_find(&gompi_groups.handles.table, (uintptr_t)*group);
		if (__builtin_expect(e == NULL, 0)) {
			gompi_biased_unlock(&gompi_groups.lock);
			return gompi_raise_invalid_group(*group, call);
		}
		struct gompi_group *g = gompi_table_object(e);
		if (__builtin_expect(--g->pending_frees == 0, 1)) {
			gompi_handles_remove_entry(&gompi_groups.handles, e, (uintptr_t)*group);
			// release: a thread that acquires the new version also sees that the handle is invalid
			gompi_store_release(&gompi_groups_version, gompi_load(&gompi_groups_version) + 1);
			if (__builtin_expect(!g->has_owner, 0))
				destroy_group(g);
		}
		gompi_biased_unlock(&gompi_groups.lock);
	}
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_free, gompi_group_free);

int gompi_group_size(MPI_Group group, int *size) {
	const struct gompi_group *g = gompi_group_get(group);
	if (g == NULL)
		return gompi_raise_invalid_group(group, "MPI_Group_size");
	if (size == NULL)
		return gompi_null_argument_error("MPI_Group_size", "size", GOMPI_ON_NONE, 0);
	*size = g->ranks.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_size, gompi_group_size);

// Executes MPI_Group_rank if the rank is not known yet: searches the group for this process and stores the result in
// the group. Also raises the errors of the call.
static __attribute__((cold, noinline)) int find_rank(MPI_Group group, int *rank) {
	struct gompi_group *g = (struct gompi_group *)gompi_group_get(group);
	if (g == NULL)
		return gompi_raise_invalid_group(group, "MPI_Group_rank");
	if (rank == NULL)
		return gompi_null_argument_error("MPI_Group_rank", "rank", GOMPI_ON_NONE, 0);
	if (!gompi_load(&gompi_state.running))
		return gompi_return_error(MPI_ERR_OTHER, "MPI_Group_rank",
					  "MPI is not initialized, or has been finalized", GOMPI_ON_NONE, 0);
	int found = gompi_ranks_find(&g->ranks, gompi_node.self);
	*rank = found < 0 ? MPI_UNDEFINED : found;
	gompi_store(&g->rank, *rank);
	return MPI_SUCCESS;
}

int gompi_group_rank(MPI_Group group, int *rank) {
	const struct gompi_group *g = gompi_group_get(group);
	int known = g == NULL ? GOMPI_RANK_UNKNOWN : gompi_load(&g->rank);
	if (__builtin_expect(known == GOMPI_RANK_UNKNOWN || rank == NULL || !gompi_load(&gompi_state.running), 0))
		return find_rank(group, rank);
	*rank = known;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_rank, gompi_group_rank);

int gompi_group_compare(MPI_Group group1, MPI_Group group2, int *result) {
	static const char call[] = "MPI_Group_compare";
	const struct gompi_group *a = gompi_group_get(group1), *b = gompi_group_get(group2);
	if (a == NULL || b == NULL)
		return gompi_raise_invalid_group(a == NULL ? group1 : group2, call);
	if (result == NULL)
		return gompi_null_argument_error(call, "result", GOMPI_ON_NONE, 0);
	*result = a == b ? MPI_IDENT : gompi_ranks_compare(&a->ranks, &b->ranks);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_compare, gompi_group_compare);

// Returns the index of the first of n ranks that is neither a rank of the group nor MPI_PROC_NULL, or n if all
// are valid.
static int first_invalid_rank(const struct gompi_group *g, int n, const int ranks[]) {
	int i = 0;
	while (i < n && (ranks[i] == MPI_PROC_NULL || (uint32_t)ranks[i] < (uint32_t)g->ranks.n))
		i++;
	return i;
}

int gompi_group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
	static const char call[] = "MPI_Group_translate_ranks";
	const struct gompi_group *a = gompi_group_get(group1), *b = gompi_group_get(group2);
	struct gompi_error_status v;
	if (a == NULL || b == NULL)
		return gompi_raise_invalid_group(a == NULL ? group1 : group2, call);
	if (n < 0 || (n > 0 && (ranks1 == NULL || ranks2 == NULL))) {
		gompi_set_error(&v, MPI_ERR_ARG,
				"n is %d, ranks1 is %p and ranks2 is %p; n must not be negative, and the arrays must "
				"not be NULL",
				n, (const void *)ranks1, (void *)ranks2);
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	int invalid = first_invalid_rank(a, n, ranks1);
	if (invalid < n) {
		gompi_set_error(&v, MPI_ERR_RANK, "ranks1[%d] is %d, which is not a rank of the group (size %d)",
				invalid, ranks1[invalid], a->ranks.n);
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	for (int i = 0; i < n; i++) {
		if (ranks1[i] == MPI_PROC_NULL) {
			ranks2[i] = MPI_PROC_NULL;
			continue;
		}
		int rank = gompi_ranks_find(&b->ranks, gompi_ranks_at(&a->ranks, ranks1[i]));
		ranks2[i] = rank < 0 ? MPI_UNDEFINED : rank;
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_translate_ranks, gompi_group_translate_ranks);
