// Groups (MPI-5.0 7.3.1). They belong to no communicator, so their errors are raised on MPI_COMM_SELF. Nothing blocks
// or communicates; Go is asked about handles that C does not know, and about long lists.
#include "group/group.h"

#include "base/node.h"
#include "base/state.h"
#include "base/up.h"
#include "base/verdict.h"
#include "group/z_calls.h"

struct gompi_known gompi_groups = {.table = {&gompi_table_nothing},
				   .ask = &gompi_up.tell_group,
				   .spares = {sizeof(struct gompi_group), offsetof(struct gompi_group, next), NULL}};
struct gompi_group gompi_group_empty = {.rank = MPI_UNDEFINED};

bool gompi_group_put(uintptr_t handle, struct gompi_ranks ranks) {
	struct gompi_group *g = gompi_known_take(&gompi_groups);
	if (g == NULL || !gompi_ranks_copy(&g->ranks, &ranks)) {
		if (g != NULL)
			gompi_known_give(&gompi_groups, g);
		return false;
	}
	int rank = gompi_ranks_find(&g->ranks, gompi_node.self);
	g->rank = rank < 0 ? MPI_UNDEFINED : rank;
	return gompi_known_keep(&gompi_groups, handle, g);
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
