// Groups (MPI-5.0 7.3.1). They belong to no communicator, so their errors are raised on MPI_COMM_SELF. Nothing blocks
// or communicates; Go is asked about handles that C does not know, and about long lists.
#include "group/group.h"

#include "base/node.h"
#include "base/state.h"
#include "base/up.h"
#include "base/verdict.h"
#include "group/z_calls.h"

struct gompi_table gompi_group_table = {&gompi_table_nothing};
struct gompi_group gompi_group_empty = {.rank = MPI_UNDEFINED};

static struct gompi_spares spare_groups = {sizeof(struct gompi_group), offsetof(struct gompi_group, next), NULL};

bool gompi_group_put(uintptr_t handle, struct gompi_ranks ranks) {
	if (gompi_table_get(&gompi_group_table, handle) != NULL)
		return true;
	struct gompi_group *g = gompi_spares_take(&spare_groups);
	if (g == NULL)
		return false;
	bool done = gompi_ranks_copy(&g->ranks, &ranks);
	if (done) {
		int rank = gompi_ranks_find(&g->ranks, gompi_node.self);
		g->rank = rank < 0 ? MPI_UNDEFINED : rank;
		done = gompi_table_put(&gompi_group_table, handle, g);
	}
	if (!done)
		gompi_spares_give(&spare_groups, g);
	return done;
}

void gompi_group_remove(uintptr_t handle) {
	if (gompi_table_get(&gompi_group_table, handle) == NULL)
		return;
	struct gompi_group *g = gompi_table_remove(&gompi_group_table, handle);
	if (g != NULL)
		gompi_spares_give(&spare_groups, g);
}

const struct gompi_group *gompi_group_ask(MPI_Group group) {
	uintptr_t handle = (uintptr_t)group;
	return gompi_up.tell_group(handle) ? gompi_table_get(&gompi_group_table, handle) : NULL;
}

static int not_a_group(MPI_Group group, const char *call) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_GROUP, "%#llx is no group, or one that was freed",
		    (unsigned long long)(uintptr_t)group);
	return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_group_size(MPI_Group group, int *size) {
	const struct gompi_group *g = gompi_group_get(group);
	if (g == NULL)
		return not_a_group(group, "MPI_Group_size");
	if (size == NULL)
		return gompi_no_place("MPI_Group_size", GOMPI_ON_NONE, 0);
	*size = g->ranks.n;
	return MPI_SUCCESS;
}

int gompi_group_rank(MPI_Group group, int *rank) {
	const struct gompi_group *g = gompi_group_get(group);
	if (g == NULL)
		return not_a_group(group, "MPI_Group_rank");
	if (rank == NULL)
		return gompi_no_place("MPI_Group_rank", GOMPI_ON_NONE, 0);
	if (!gompi_load(&gompi_state.running))
		return gompi_refuse(MPI_ERR_OTHER, "MPI_Group_rank", "MPI is not initialized, or has been finalized",
				    GOMPI_ON_NONE, 0);
	*rank = g->rank;
	return MPI_SUCCESS;
}

int gompi_group_compare(MPI_Group group1, MPI_Group group2, int *result) {
	static const char call[] = "MPI_Group_compare";
	const struct gompi_group *a = gompi_group_get(group1), *b = gompi_group_get(group2);
	if (a == NULL || b == NULL)
		return not_a_group(a == NULL ? group1 : group2, call);
	if (result == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	if (a == b)
		*result = MPI_IDENT;
	else if (gompi_ranks_few(&b->ranks))
		*result = gompi_ranks_compare(&a->ranks, &b->ranks);
	else
		*result = gompi_up.compare_groups((uintptr_t)group1, (uintptr_t)group2);
	return MPI_SUCCESS;
}

// The first of n ranks that is none of a group's, nor MPI_PROC_NULL; n: all are.
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
		return not_a_group(a == NULL ? group1 : group2, call);
	if (n < 0 || (n > 0 && (ranks1 == NULL || ranks2 == NULL))) {
		gompi_error(&v, MPI_ERR_ARG, "%d ranks at addresses %p and %p", n, (const void *)ranks1,
			    (void *)ranks2);
		return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	int wrong = first_wrong(a, n, ranks1);
	if (wrong < n) {
		gompi_error(&v, MPI_ERR_RANK, "ranks[%d] is %d, but the group has %d processes", wrong, ranks1[wrong],
			    a->ranks.n);
		return gompi_refuse(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	if (!gompi_ranks_few(&b->ranks)) {
		gompi_up.translate_ranks((uintptr_t)group1, n, ranks1, (uintptr_t)group2, ranks2);
		return MPI_SUCCESS;
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
