// Creation and release of groups, and the query calls (MPI-5.0 7.3.1). Groups belong to no communicator, so errors are
// raised on MPI_COMM_SELF. Nothing blocks or communicates.
#include "group/group.h"

#include "base/node.h"
#include "base/state.h"
#include "base/verdict.h"
#include "group/z_calls.h"

struct gompi_objects gompi_groups = GOMPI_OBJECTS(GOMPI_KIND_GROUP, struct gompi_group);
struct gompi_group gompi_group_empty = {.rank = MPI_UNDEFINED};
gompi_a64 gompi_groups_version;

int gompi_not_a_group(MPI_Group group, const char *call) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_GROUP,
		    group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL" : "%#llx is not a group, or has been freed",
		    (unsigned long long)(uintptr_t)group);
	return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_no_more_groups(const char *call, int kind, uintptr_t object) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_NO_MEM, "cannot create a group: the maximum of %d is reached, or out of memory",
		    GOMPI_KIND_MOST);
	return gompi_refuse(v.class, call, v.text, kind, object);
}

// The callers of the following four functions hold gompi_groups.lock.

// Adds a holder, and a handle if the group has none. Returns false if no handle is available.
static inline bool hold_group(struct gompi_group *g) {
	if (__builtin_expect(g->holders == 0, 1) && (g->handle = gompi_handles_add(&gompi_groups.handles, g)) == 0)
		return false;
	g->holders++;
	return true;
}

// Returns a new group with the given members, or NULL if out of memory.
static __attribute__((noinline)) struct gompi_group *new_group(const struct gompi_ranks *members, bool owned) {
	struct gompi_group *g = gompi_objects_take(&gompi_groups);
	if (g != NULL) {
		g->ranks = *members;
		g->rank = GOMPI_RANK_UNKNOWN;
		g->holders = 0;
		g->owned = owned;
	}
	return g;
}

static void end_group(struct gompi_group *g) {
	gompi_ranks_drop(&g->ranks);
	gompi_objects_give(&gompi_groups, g);
}

// Returns a new group owned by an object, or NULL if out of memory.
static __attribute__((noinline)) struct gompi_group *own_group(const struct gompi_ranks *members) {
	struct gompi_ranks ranks = {0};
	gompi_ranks_share(&ranks, members);
	struct gompi_group *g = new_group(&ranks, true);
	if (g == NULL)
		gompi_ranks_drop(&ranks);
	return g;
}

int gompi_group_hold(struct gompi_group **owned, const struct gompi_ranks *members, MPI_Group *group) {
	if (__builtin_expect(members->n == 0, 0)) {
		*group = MPI_GROUP_EMPTY;
		return MPI_SUCCESS;
	}
	gompi_biased_take(&gompi_groups.lock);
	struct gompi_group *g = *owned;
	if (__builtin_expect(g == NULL, 0))
		g = *owned = own_group(members);
	if (__builtin_expect(g == NULL || !hold_group(g), 0)) {
		gompi_biased_give(&gompi_groups.lock);
		return MPI_ERR_NO_MEM;
	}
	*group = (MPI_Group)g->handle;
	gompi_biased_give(&gompi_groups.lock);
	return MPI_SUCCESS;
}

void gompi_group_disown(struct gompi_group **owned) {
	if (*owned == NULL)
		return;
	gompi_biased_take(&gompi_groups.lock);
	(*owned)->owned = false;
	if ((*owned)->holders == 0)
		end_group(*owned);
	*owned = NULL;
	gompi_biased_give(&gompi_groups.lock);
}

int gompi_group_keep(const char *call, struct gompi_ranks *members, MPI_Group *newgroup) {
	if (newgroup == NULL) {
		gompi_ranks_drop(members);
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	}
	if (members->n == 0) {
		*newgroup = MPI_GROUP_EMPTY;
		return MPI_SUCCESS;
	}
	gompi_biased_take(&gompi_groups.lock);
	struct gompi_group *g = new_group(members, false);
	bool held = g != NULL && hold_group(g);
	if (held)
		*newgroup = (MPI_Group)g->handle;
	else if (g != NULL)
		end_group(g);
	else
		gompi_ranks_drop(members);
	gompi_biased_give(&gompi_groups.lock);
	return held ? MPI_SUCCESS : gompi_no_more_groups(call, GOMPI_ON_NONE, 0);
}

int gompi_group_free(MPI_Group *group) {
	static const char call[] = "MPI_Group_free";
	if (group == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	if (__builtin_expect(*group != MPI_GROUP_EMPTY, 1)) {
		gompi_biased_take(&gompi_groups.lock);
		struct gompi_table_entry *e = gompi_table_find(&gompi_groups.handles.table, (uintptr_t)*group);
		if (__builtin_expect(e == NULL, 0)) {
			gompi_biased_give(&gompi_groups.lock);
			return gompi_not_a_group(*group, call);
		}
		struct gompi_group *g = gompi_table_in(e);
		if (__builtin_expect(--g->holders == 0, 1)) {
			gompi_handles_leave(&gompi_groups.handles, e, (uintptr_t)*group);
			// release: a thread that acquires the new version also sees that the handle is invalid
			gompi_store_release(&gompi_groups_version, gompi_load(&gompi_groups_version) + 1);
			if (__builtin_expect(!g->owned, 0))
				end_group(g);
		}
		gompi_biased_give(&gompi_groups.lock);
	}
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_free, gompi_group_free);

int gompi_group_size(MPI_Group group, int *size) {
	const struct gompi_group *g = gompi_group_get(group);
	if (g == NULL)
		return gompi_not_a_group(group, "MPI_Group_size");
	if (size == NULL)
		return gompi_no_place("MPI_Group_size", GOMPI_ON_NONE, 0);
	*size = g->ranks.n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_size, gompi_group_size);

// Executes MPI_Group_rank for the first query of a group, and raises its errors.
static __attribute__((cold, noinline)) int find_rank(MPI_Group group, int *rank) {
	struct gompi_group *g = (struct gompi_group *)gompi_group_get(group);
	if (g == NULL)
		return gompi_not_a_group(group, "MPI_Group_rank");
	if (rank == NULL)
		return gompi_no_place("MPI_Group_rank", GOMPI_ON_NONE, 0);
	if (!gompi_load(&gompi_state.running))
		return gompi_refuse(MPI_ERR_OTHER, "MPI_Group_rank", "MPI is not initialized, or has been finalized",
				    GOMPI_ON_NONE, 0);
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
		return gompi_not_a_group(a == NULL ? group1 : group2, call);
	if (result == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	*result = a == b ? MPI_IDENT : gompi_ranks_compare(&a->ranks, &b->ranks);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Group_compare, gompi_group_compare);

// Returns the index of the first of n ranks that is neither a rank of the group nor MPI_PROC_NULL, or n if there is
// none.
static int first_wrong(const struct gompi_group *g, int n, const int ranks[]) {
	int i = 0;
	while (i < n && (ranks[i] == MPI_PROC_NULL || (uint32_t)ranks[i] < (uint32_t)g->ranks.n))
		i++;
	return i;
}

int gompi_group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
	static const char call[] = "MPI_Group_translate_ranks";
	const struct gompi_group *a = gompi_group_get(group1), *b = gompi_group_get(group2);
	struct gompi_verdict v;
	if (a == NULL || b == NULL)
		return gompi_not_a_group(a == NULL ? group1 : group2, call);
	if (n < 0 || (n > 0 && (ranks1 == NULL || ranks2 == NULL))) {
		gompi_error(&v, MPI_ERR_ARG,
			    "%d ranks at addresses %p and %p: the number must not be negative, nor the addresses NULL",
			    n, (const void *)ranks1, (void *)ranks2);
		return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	int wrong = first_wrong(a, n, ranks1);
	if (wrong < n) {
		gompi_error(&v, MPI_ERR_RANK, "ranks[%d] is %d, but the group has only %d processes", wrong,
			    ranks1[wrong], a->ranks.n);
		return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
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
