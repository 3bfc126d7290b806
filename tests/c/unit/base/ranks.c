/* Proves: a list of processes (base/ranks.h), with a constant stride or irregular, maps ranks to processes and
 * processes to ranks. Comparing two lists shows whether they have the same members, in the same or in a different
 * order. The test computes the expected results by linear search.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "base/ranks.h"

enum { ROUNDS = 20000, UNIVERSE = 12, LONG = 1000 };

static uint64_t state = 11;

static int below(int n) { return (int)(check_random(&state) % (uint64_t)n); }

/* Returns a list of distinct processes, with a constant stride or irregular, and writes its members to `all`. */
static struct gompi_ranks make(int32_t *all) {
	static int32_t lists[2][UNIVERSE];
	static int which;
	int32_t *list = lists[which ^= 1];
	struct gompi_ranks r = {.stride = 1};
	if (below(2)) {
		r.stride = (int32_t)(1 + below(3)) * (below(2) ? 1 : -1);
		r.first = below(UNIVERSE);
		while (r.n < UNIVERSE && r.first + r.n * r.stride >= 0 && r.first + r.n * r.stride < UNIVERSE &&
		       (r.n == 0 || below(6)))
			r.n++;
		for (int i = 0; i < r.n; i++)
			all[i] = r.first + i * r.stride;
		return r;
	}
	for (int32_t i = 0; i < UNIVERSE; i++)
		list[i] = i;
	for (int i = UNIVERSE - 1; i > 0; i--) {
		int j = below(i + 1);
		int32_t x = list[i];
		list[i] = list[j], list[j] = x;
	}
	r.n = below(2) ? 1 + below(3) : UNIVERSE;
	r.list = list;
	memcpy(all, list, (size_t)r.n * sizeof *all);
	return r;
}

static int find(const int32_t *all, int n, int process) {
	for (int i = 0; i < n; i++)
		if (all[i] == process)
			return i;
	return -1;
}

static int compare(const int32_t *a, int na, const int32_t *b, int nb) {
	if (na != nb)
		return MPI_UNEQUAL;
	for (int i = 0; i < na; i++)
		if (find(b, nb, a[i]) < 0)
			return MPI_UNEQUAL;
	return memcmp(a, b, (size_t)na * sizeof *a) == 0 ? MPI_IDENT : MPI_SIMILAR;
}

int main(void) {
	int seen[4] = {0};
	for (int round = 0; round < ROUNDS; round++) {
		int32_t la[UNIVERSE], lb[UNIVERSE];
		struct gompi_ranks a = make(la), b = make(lb);
		for (int i = 0; i < a.n; i++)
			CHECK(gompi_ranks_at(&a, i) == la[i], "rank %d is process %d, not %d", i, gompi_ranks_at(&a, i),
			      la[i]);
		for (int process = -3; process < UNIVERSE + 3; process++)
			CHECK(gompi_ranks_find(&a, process) == find(la, a.n, process), "process %d has rank %d",
			      process, gompi_ranks_find(&a, process));
		int want = compare(la, a.n, lb, b.n);
		CHECK(gompi_ranks_compare(&a, &b) == want, "compared: %d, not %d", gompi_ranks_compare(&a, &b), want);
		seen[want - MPI_IDENT]++;
	}
	CHECK(seen[0] > 50 && seen[MPI_SIMILAR - MPI_IDENT] > 50 && seen[MPI_UNEQUAL - MPI_IDENT] > 50,
	      "compared: %d, %d, %d", seen[0], seen[MPI_SIMILAR - MPI_IDENT], seen[MPI_UNEQUAL - MPI_IDENT]);

	int32_t list[] = {5, 1, 9};
	struct gompi_ranks copy = {0}, regular = {.n = 3, .first = 2, .stride = 2};
	CHECK(gompi_ranks_copy(&copy, &(struct gompi_ranks){.n = 3, .list = list}), "no memory");
	list[1] = 7;
	CHECK(gompi_ranks_find(&copy, 1) == 1, "the copy has the caller's list");
	struct gompi_ranks other = {0};
	gompi_ranks_share(&other, &copy);
	CHECK(gompi_ranks_copy(&copy, &regular) && copy.list == NULL && gompi_ranks_at(&copy, 2) == 6, "the copy");
	CHECK(gompi_ranks_find(&other, 9) == 2, "the list that was shared");
	gompi_ranks_release(&other);

	/* Appends entries until the list is long enough to get a sorted index. The first entries have a constant
	 * stride. */
	for (int i = 0; i < LONG; i++)
		CHECK(gompi_ranks_append(&other, i < 10 ? 2 * i : 7919 * i % 65521 + 100, 2 * LONG), "no memory");
	gompi_ranks_shrink(&other);
	for (int i = 0; i < LONG; i++)
		CHECK(gompi_ranks_find(&other, gompi_ranks_at(&other, i)) == i, "rank %d", i);
	CHECK(gompi_ranks_find(&other, 1) < 0 && gompi_ranks_find(&other, -1) < 0, "found though not there");
	gompi_ranks_release(&other);
	return unit_end();
}
