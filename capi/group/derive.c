// Groups that are derived from other groups (MPI-5.0 7.3.2). Errors are raised on MPI_COMM_SELF; a rejected call
// creates nothing. Nothing blocks or communicates. All calls take time linear in the sizes of the groups and lists.
// Exception: the first search in a group's list of processes sorts the list.
#include <stdlib.h>

#include "base/error_status.h"
#include "group/group.h"
#include "group/z_calls.h"

enum { MAX_STACK_RANKS = 1024 }; // groups of at most this many processes need no memory from malloc

// A bit set of the ranks of a group, to detect duplicates.
struct marks {
	uint64_t inline_bits[MAX_STACK_RANKS / 64], *bits;
};

static bool open_marks(struct marks *m, int n) {
	size_t words = ((size_t)n + 63) / 64;
	m->bits = n <= MAX_STACK_RANKS ? m->inline_bits : malloc(words * sizeof *m->bits);
	for (size_t i = 0; i < words && m->bits != NULL; i++)
		m->bits[i] = 0;
	return m->bits != NULL;
}

static void close_marks(struct marks *m) {
	if (m->bits != m->inline_bits)
		free(m->bits);
}

static bool is_marked(const struct marks *m, int rank) { return m->bits[rank / 64] >> rank % 64 & 1; }

static int out_of_memory(struct gompi_error_status *v, int n) {
	return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a group of %d processes", n);
}

// Marks n ranks. Returns MPI_SUCCESS or the error class in *v: MPI_ERR_RANK if a number is not a rank of g or occurs
// twice.
static int mark_ranks(struct marks *m, const struct gompi_ranks *g, int n, const int ranks[],
		      struct gompi_error_status *v) {
	for (int i = 0; i < n; i++) {
		if ((uint32_t)ranks[i] >= (uint32_t)g->n)
			return gompi_set_error(v, MPI_ERR_RANK,
					       "ranks[%d] is %d, which is not a rank of the group (size %d)", i,
					       ranks[i], g->n);
		if (is_marked(m, ranks[i]))
			return gompi_set_error(v, MPI_ERR_RANK, "ranks[%d] is %d, which occurs twice in ranks", i,
					       ranks[i]);
		m->bits[ranks[i] / 64] |= UINT64_C(1) << ranks[i] % 64;
	}
	return MPI_SUCCESS;
}

// Stores members of g in *to: if `included` is true, those with the n given ranks, in the order of the list `ranks`,
// otherwise all others, in the order of g. Returns MPI_SUCCESS or the error class in *v.
static int select_ranks(struct gompi_ranks *to, const struct gompi_ranks *g, int n, const int ranks[], bool included,
			struct gompi_error_status *v) {
	struct marks m;
	if (!open_marks(&m, g->n))
		return out_of_memory(v, g->n);
	int class = mark_ranks(&m, g, n, ranks, v);
	int count = included ? n : g->n, capacity = included ? n : g->n - n;
	for (int i = 0; i < count && class == MPI_SUCCESS; i++)
		if ((included || !is_marked(&m, i)) &&
		    !gompi_ranks_append(to, gompi_ranks_at(g, included ? ranks[i] : i), capacity))
			class = out_of_memory(v, capacity);
	close_marks(&m);
	return class;
}

static const struct gompi_group *group_of_list_call(MPI_Group group, const char *call, const char *noun, int n,
						    const void *list, int *rc) {
	const struct gompi_group *g = gompi_group_get(group);
	struct gompi_error_status v;
	if (g == NULL) {
		*rc = gompi_raise_invalid_group(group, call);
	} else if (n < 0 || (n > 0 && list == NULL)) {
		if (n < 0)
			gompi_set_error(&v, MPI_ERR_ARG, "the number of %s is %d; it must not be negative", noun, n);
		else
			gompi_set_error(&v, MPI_ERR_ARG, "the array of %s is NULL; its length must be %d", noun, n);
		*rc = gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
		return NULL;
	}
	return g;
}

// Ends a call: raises the error on the session of the group, if any, or creates the group of the chosen members.
static int create_or_raise(const char *call, int class, struct gompi_error_status *v, struct gompi_ranks *members,
			   MPI_Group *newgroup) {
	if (class == MPI_SUCCESS)
		return gompi_group_create(call, members, newgroup);
	const uintptr_t session = (uintptr_t)(uint32_t)members->session;
	gompi_ranks_release(members);
	return gompi_return_error(class, call, v->text, session != 0 ? GOMPI_ON_SESSION : GOMPI_ON_NONE, session);
}

static int group_by_ranks(const char *call, MPI_Group group, int n, const int ranks[], bool included,
			  MPI_Group *newgroup) {
	struct gompi_error_status v;
	int rc;
	const struct gompi_group *g = group_of_list_call(group, call, "ranks", n, ranks, &rc);
	if (g == NULL)
		return rc;
	struct gompi_ranks members = {.session = g->ranks.session};
	int class = select_ranks(&members, &g->ranks, n, ranks, included, &v);
	return create_or_raise(call, class, &v, &members, newgroup);
}

int gompi_group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup) {
	return group_by_ranks("MPI_Group_incl", group, n, ranks, true, newgroup);
}
GOMPI_ENTRY(MPI_Group_incl, gompi_group_incl);

int gompi_group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup) {
	return group_by_ranks("MPI_Group_excl", group, n, ranks, false, newgroup);
}
GOMPI_ENTRY(MPI_Group_excl, gompi_group_excl);

// Checks range i (first rank, last rank, stride), and stores in *count how many ranks it names. The group has `size`
// processes. ranks_left is the number of ranks that no earlier range names. Returns MPI_SUCCESS or the error class in
// *v: MPI_ERR_ARG if the stride is 0, MPI_ERR_RANK for any other invalid range.
static int check_triplet(int i, const int range[3], int size, int ranks_left, int64_t *count,
			 struct gompi_error_status *v) {
	int64_t first = range[0], last = range[1], stride = range[2];
	if (stride == 0)
		return gompi_set_error(v, MPI_ERR_ARG, "ranges[%d] is (%d, %d, 0): the stride must not be 0", i,
				       range[0], range[1]);
	*count = stride > 0 ? (last < first ? 0 : (last - first) / stride + 1)
			    : (last > first ? 0 : (last - first) / stride + 1);
	if (first < 0 || first >= size)
		return gompi_set_error(v, MPI_ERR_RANK,
				       "ranges[%d] begins at %d, which is not a rank of the group (size %d)", i,
				       range[0], size);
	int64_t end = first + (*count > 0 ? *count - 1 : 0) * stride;
	if (end < 0 || end >= size)
		return gompi_set_error(
			v, MPI_ERR_RANK,
			"ranges[%d] is (%d, %d, %d) and ends at %lld, which is not a rank of the group (size %d)", i,
			range[0], range[1], range[2], (long long)end, size);
	if (*count > ranks_left)
		return gompi_set_error(
			v, MPI_ERR_RANK,
			"ranges[0] to ranges[%d] contain more ranks than the group (size %d): a rank occurs twice", i,
			size);
	return MPI_SUCCESS;
}

static int group_by_ranges(const char *call, MPI_Group group, int n, int ranges[][3], bool included,
			   MPI_Group *newgroup) {
	struct gompi_error_status v;
	int rc, stack_ranks[MAX_STACK_RANKS], count = 0;
	const struct gompi_group *g = group_of_list_call(group, call, "ranges", n, ranges, &rc);
	if (g == NULL)
		return rc;
	struct gompi_ranks members = {.session = g->ranks.session};
	int size = g->ranks.n, *ranks = size <= MAX_STACK_RANKS ? stack_ranks : malloc((size_t)size * sizeof *ranks);
	int class = ranks == NULL ? out_of_memory(&v, size) : MPI_SUCCESS;
	for (int i = 0; i < n && class == MPI_SUCCESS; i++) {
		int64_t range_count = 0;
		class = check_triplet(i, ranges[i], size, size - count, &range_count, &v);
		for (int64_t k = 0; k < range_count && class == MPI_SUCCESS; k++)
			ranks[count++] = ranges[i][0] + (int)k * ranges[i][2];
	}
	if (class == MPI_SUCCESS)
		class = select_ranks(&members, &g->ranks, count, ranks, included, &v);
	if (ranks != stack_ranks)
		free(ranks);
	return create_or_raise(call, class, &v, &members, newgroup);
}

int gompi_group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup) {
	return group_by_ranges("MPI_Group_range_incl", group, n, ranges, true, newgroup);
}
GOMPI_ENTRY(MPI_Group_range_incl, gompi_group_range_incl);

int gompi_group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup) {
	return group_by_ranges("MPI_Group_range_excl", group, n, ranges, false, newgroup);
}
GOMPI_ENTRY(MPI_Group_range_excl, gompi_group_range_excl);

enum member_filter { FILTER_ALL, FILTER_IN, FILTER_NOT_IN };

// Appends members of the list `a` to *to: all members, only the members that are also in `b`, or only the members that
// are not in `b`. Returns false if out of memory.
static bool append_members(struct gompi_ranks *to, const struct gompi_ranks *a, enum member_filter filter,
			   const struct gompi_ranks *b, int capacity) {
	for (int i = 0; i < a->n; i++) {
		int process = gompi_ranks_at(a, i);
		bool chosen = filter == FILTER_ALL || (gompi_ranks_find(b, process) >= 0) == (filter == FILTER_IN);
		if (chosen && !gompi_ranks_append(to, process, capacity))
			return false;
	}
	return true;
}

// Creates a group of the members of group1 that `filter` selects. If append_rest is true, appends the members of group2
// that are not in group1.
static int group_by_groups(const char *call, MPI_Group group1, MPI_Group group2, enum member_filter filter,
			   bool append_rest, MPI_Group *newgroup) {
	const struct gompi_group *a = gompi_group_get(group1), *b = gompi_group_get(group2);
	struct gompi_error_status v;
	if (a == NULL || b == NULL)
		return gompi_raise_invalid_group(a == NULL ? group1 : group2, call);
	struct gompi_ranks members = {.session = a->ranks.n > 0 ? a->ranks.session : b->ranks.session};
	int class = MPI_SUCCESS, capacity = a->ranks.n + (append_rest ? b->ranks.n : 0);
	if (gompi_ranks_differ_in_session(&a->ranks, &b->ranks))
		class = gompi_set_error(&v, MPI_ERR_GROUP, "the groups are derived from different sessions");
	else if (!append_members(&members, &a->ranks, filter, &b->ranks, capacity) ||
		 (append_rest && !append_members(&members, &b->ranks, FILTER_NOT_IN, &a->ranks, capacity)))
		class = out_of_memory(&v, capacity);
	if (members.n < capacity)
		gompi_ranks_shrink(&members);
	return create_or_raise(call, class, &v, &members, newgroup);
}

int gompi_group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup) {
	return group_by_groups("MPI_Group_union", group1, group2, FILTER_ALL, true, newgroup);
}
GOMPI_ENTRY(MPI_Group_union, gompi_group_union);

int gompi_group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup) {
	return group_by_groups("MPI_Group_intersection", group1, group2, FILTER_IN, false, newgroup);
}
GOMPI_ENTRY(MPI_Group_intersection, gompi_group_intersection);

int gompi_group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup) {
	return group_by_groups("MPI_Group_difference", group1, group2, FILTER_NOT_IN, false, newgroup);
}
GOMPI_ENTRY(MPI_Group_difference, gompi_group_difference);
