/* Proves: operations on groups (group/) have the same results as operations on plain lists of processes, with constant
 * stride or irregular, short or long. Invalid ranks and ranges are rejected with the right error class, and no group is
 * created. Repeated requests for the group of an object return the same handle. The handle must be freed as often as it
 * was requested, and the group outlives the object. Every empty group is MPI_GROUP_EMPTY.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "group/group.h"
#include "group/z_calls.h"

enum { ROUNDS = 3000, MAX_MEMBERS = 200 };

struct list {
	int n, at[MAX_MEMBERS];
};

static uint64_t state = 5;

static int below(int n) { return (int)(check_random(&state) % (uint64_t)n); }

static int find(const struct list *l, int process) {
	for (int i = 0; i < l->n; i++)
		if (l->at[i] == process)
			return i;
	return -1;
}

static void shuffle(struct list *l) {
	for (int i = l->n - 1; i > 0; i--) {
		int j = below(i + 1), x = l->at[i];
		l->at[i] = l->at[j], l->at[j] = x;
	}
}

/* Makes a random list of distinct processes with numbers below `universe`, with constant stride or irregular. */
static void any_list(struct list *l, int universe) {
	int stride = 1 + below(3);
	l->n = 0;
	for (int w = below(universe); w < universe; w += below(3) ? stride : 1 + below(2))
		l->at[l->n++] = w;
	if (below(2))
		shuffle(l);
}

static MPI_Group group_of_list(const struct list *l) {
	struct gompi_ranks ranks = {0};
	MPI_Group g;
	for (int i = 0; i < l->n; i++)
		CHECK(gompi_ranks_append(&ranks, l->at[i], l->n), "no memory");
	CHECK(gompi_group_create("test", &ranks, &g) == MPI_SUCCESS, "no memory");
	return g;
}

/* Checks that the group has the members of the list, and frees the group. */
static void same(const char *what, MPI_Group g, const struct list *want) {
	const struct gompi_group *in = gompi_group_get(g);
	int n = -1;
	CHECK(gompi_group_size(g, &n) == MPI_SUCCESS && n == want->n, "%s: %d members, not %d", what, n, want->n);
	CHECK((g == MPI_GROUP_EMPTY) == (want->n == 0), "%s: another empty group", what);
	for (int i = 0; i < want->n && i < n; i++)
		CHECK(gompi_ranks_at(&in->ranks, i) == want->at[i], "%s: member %d is %d, not %d", what, i,
		      gompi_ranks_at(&in->ranks, i), want->at[i]);
	MPI_Group freed = g;
	CHECK(gompi_group_free(&freed) == MPI_SUCCESS && freed == MPI_GROUP_NULL, "%s: not freed", what);
	CHECK(g == MPI_GROUP_EMPTY || gompi_group_get(g) == NULL, "%s: a freed group", what);
}

/* Appends to *to the members of `l` that are in `other` or, if `in` is false, those that are not in `other`. */
static void filter(struct list *to, const struct list *l, const struct list *other, bool in) {
	for (int i = 0; i < l->n; i++)
		if ((find(other, l->at[i]) >= 0) == in)
			to->at[to->n++] = l->at[i];
}

static int compare_lists(const struct list *a, const struct list *b) {
	struct list both = {0};
	if (a->n == b->n && memcmp(a->at, b->at, (size_t)a->n * sizeof a->at[0]) == 0)
		return MPI_IDENT;
	filter(&both, a, b, true);
	return a->n == b->n && both.n == a->n ? MPI_SIMILAR : MPI_UNEQUAL;
}

static void test_two_groups(const struct list *a, const struct list *b) {
	MPI_Group ga = group_of_list(a), gb = group_of_list(b), g;
	struct list all = *a, in = {0}, out = {0};
	int ranks[MAX_MEMBERS], to[MAX_MEMBERS], result = -1;
	for (int i = 0; i < b->n; i++)
		if (find(a, b->at[i]) < 0)
			all.at[all.n++] = b->at[i];
	filter(&in, a, b, true);
	filter(&out, a, b, false);
	CHECK(gompi_group_union(ga, gb, &g) == MPI_SUCCESS, "union");
	same("union", g, &all);
	CHECK(gompi_group_intersection(ga, gb, &g) == MPI_SUCCESS, "intersection");
	same("intersection", g, &in);
	CHECK(gompi_group_difference(ga, gb, &g) == MPI_SUCCESS, "difference");
	same("difference", g, &out);
	CHECK(gompi_group_compare(ga, gb, &result) == MPI_SUCCESS && result == compare_lists(a, b), "compared: %d",
	      result);
	for (int i = 0; i < a->n; i++)
		ranks[i] = i;
	CHECK(gompi_group_translate_ranks(ga, a->n, ranks, gb, to) == MPI_SUCCESS, "translated");
	for (int i = 0; i < a->n; i++) {
		int want = find(b, a->at[i]);
		CHECK(to[i] == (want < 0 ? MPI_UNDEFINED : want), "rank %d is %d", i, to[i]);
	}
	same("the first", ga, a);
	same("the second", gb, b);
}

static void test_ranks(const struct list *l) {
	MPI_Group g = group_of_list(l), h = MPI_GROUP_NULL;
	struct list ranks = {0}, in = {0}, out = {0}, in_ranges = {0};
	int ranges[MAX_MEMBERS][3], n = 0;
	for (int i = 0; i < l->n; i++)
		if (below(2))
			ranks.at[ranks.n++] = i;
	if (below(2))
		shuffle(&ranks);
	for (int i = 0; i < ranks.n; i++)
		in.at[in.n++] = l->at[ranks.at[i]];
	filter(&out, l, &in, false);
	CHECK(gompi_group_incl(g, ranks.n, ranks.at, &h) == MPI_SUCCESS, "incl");
	same("incl", h, &in);
	CHECK(gompi_group_excl(g, ranks.n, ranks.at, &h) == MPI_SUCCESS, "excl");
	same("excl", h, &out);

	/* Uses four ranges: an ascending range, a range of no ranks, a descending range, and another range of no
	 * ranks. */
	if (l->n >= 2) {
		int stride = 1 + below(3), middle = 1 + below(l->n - 1);
		for (int i = 0; i < middle; i += stride)
			in_ranges.at[in_ranges.n++] = l->at[i];
		for (int i = l->n - 1; i >= middle; i -= stride)
			in_ranges.at[in_ranges.n++] = l->at[i];
		const int made[][3] = {{0, middle - 1, stride}, {1, 0, 5}, {l->n - 1, middle, -stride}, {0, 1, -1}};
		n = 4;
		memcpy(ranges, made, sizeof made);
	}
	struct list others = {0};
	filter(&others, l, &in_ranges, false);
	CHECK(gompi_group_range_incl(g, n, ranges, &h) == MPI_SUCCESS, "range_incl");
	same("range_incl", h, &in_ranges);
	CHECK(gompi_group_range_excl(g, n, ranges, &h) == MPI_SUCCESS, "range_excl");
	same("range_excl", h, &others);
	same("the group", g, l);
}

#define REFUSED(class, call) \
	CHECK((call) == (class) && h == MPI_GROUP_NULL, #call ": %u", (unsigned)gompi_load(&unit_raised))

static void test_invalid_arguments(void) {
	struct list l = {.n = 10};
	MPI_Group h = MPI_GROUP_NULL;
	for (int i = 0; i < l.n; i++)
		l.at[i] = 2 * i;
	MPI_Group g = group_of_list(&l), no = (MPI_Group)((uintptr_t)g + 1);
	int live = gompi_pool_used_count(&gompi_groups);
	static const int large[] = {5, 10}, negative[] = {-1}, twice[] = {2, 3, 2}, null[] = {MPI_PROC_NULL};
	REFUSED(MPI_ERR_RANK, gompi_group_incl(g, 2, large, &h));
	REFUSED(MPI_ERR_RANK, gompi_group_excl(g, 2, large, &h));
	REFUSED(MPI_ERR_RANK, gompi_group_incl(g, 1, negative, &h));
	REFUSED(MPI_ERR_RANK, gompi_group_incl(g, 3, twice, &h));
	REFUSED(MPI_ERR_RANK, gompi_group_excl(g, 3, twice, &h));
	REFUSED(MPI_ERR_RANK, gompi_group_incl(g, 1, null, &h));
	REFUSED(MPI_ERR_ARG, gompi_group_incl(g, -1, large, &h));
	REFUSED(MPI_ERR_ARG, gompi_group_excl(g, 1, NULL, &h));
	REFUSED(MPI_ERR_GROUP, gompi_group_incl(no, 1, large, &h));
	REFUSED(MPI_ERR_GROUP, gompi_group_incl(MPI_GROUP_NULL, 1, large, &h));
	REFUSED(MPI_ERR_GROUP, gompi_group_union(g, no, &h));
	CHECK(gompi_group_incl(g, 1, large, NULL) == MPI_ERR_ARG, "no place");
	CHECK(gompi_group_union(g, g, NULL) == MPI_ERR_ARG, "no place");

	static const struct {
		int range[2][3], n, class;
	} ranges[] = {
		{{{3, 3, 0}}, 1, MPI_ERR_ARG},
		{{{0, 4, 2}, {4, 4, 1}}, 2, MPI_ERR_RANK},
		{{{0, 10, 2}}, 1, MPI_ERR_RANK},
		{{{0, INT32_MAX, 1}}, 1, MPI_ERR_RANK},
		{{{-1, 3, 1}}, 1, MPI_ERR_RANK},
		{{{0, INT32_MIN, -1}}, 1, MPI_ERR_RANK},
		{{{0, 9, 1}, {0, 9, 1}}, 2, MPI_ERR_RANK},
		{{{8, 11, 4}}, 1, MPI_SUCCESS}, /* valid: has rank 8 only, because 8 + 4 is beyond 11 */
	};
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
		int r[2][3];
		memcpy(r, ranges[i].range, sizeof r);
		int in = gompi_group_range_incl(g, ranges[i].n, r, &h);
		CHECK(in == ranges[i].class, "ranges %zu: class %d", i, in);
		if (in == MPI_SUCCESS)
			same("one", h, &(struct list){1, {16}}), h = MPI_GROUP_NULL;
		CHECK((in == MPI_SUCCESS) == (gompi_group_range_excl(g, ranges[i].n, r, &h) == MPI_SUCCESS), "%zu", i);
		if (in == MPI_SUCCESS)
			gompi_group_free(&h);
	}
	CHECK(gompi_pool_used_count(&gompi_groups) == live, "what was refused has made a group");
	same("the group", g, &l);
}

static void owned(void) {
	struct gompi_group *mine = NULL;
	struct list l = {70, {0}};
	struct gompi_ranks members = {0};
	MPI_Group first, second, again;
	for (int i = 0; i < l.n; i++) {
		l.at[i] = i * i;
		CHECK(gompi_ranks_append(&members, l.at[i], l.n), "no memory");
	}
	CHECK(gompi_group_acquire(&mine, &members, &first) == MPI_SUCCESS, "no memory");
	CHECK(gompi_group_acquire(&mine, &members, &second) == MPI_SUCCESS && first == second, "another handle");
	uint64_t version = gompi_load(&gompi_groups_version);
	again = first;
	CHECK(gompi_group_free(&again) == MPI_SUCCESS && gompi_load(&gompi_groups_version) == version,
	      "the group was freed");
	CHECK(gompi_group_get(first) == mine, "the group was freed");
	again = first;
	CHECK(gompi_group_free(&again) == MPI_SUCCESS && gompi_load(&gompi_groups_version) != version, "it is there");
	CHECK(gompi_group_get(first) == NULL && gompi_group_free(&first) == MPI_ERR_GROUP, "it is there");
	CHECK(gompi_group_acquire(&mine, &members, &second) == MPI_SUCCESS && first != second, "the same handle again");
	gompi_ranks_release(&members);
	gompi_group_disown(&mine);
	CHECK(mine == NULL, "it is owned still");
	same("the group of a freed handle", second, &l);
	CHECK(gompi_group_acquire(&mine, &members, &first) == MPI_SUCCESS && first == MPI_GROUP_EMPTY && mine == NULL,
	      "an empty group");
}

int main(void) {
	unit_node(1);
	for (int round = 0; round < ROUNDS; round++) {
		int universe = 1 + below(round % 10 == 0 ? MAX_MEMBERS / 2 : 20);
		struct list a, b;
		any_list(&a, universe);
		any_list(&b, universe);
		test_two_groups(&a, round % 4 == 0 ? &a : &b);
		if (round % 4 == 1) {
			b = a;
			shuffle(&b);
			test_two_groups(&a, &b);
		}
		test_ranks(&a);
	}
	test_invalid_arguments();
	owned();
	CHECK(gompi_pool_used_count(&gompi_groups) == 0, "%d groups are left", gompi_pool_used_count(&gompi_groups));
	return unit_end();
}
