#include "base/ranks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINEAR_SEARCH_MAX = 64 }; // lists up to this length are searched linearly

static struct gompi_ranks_list *list_of(const struct gompi_ranks *r) {
	return (struct gompi_ranks_list *)((char *)r->list - offsetof(struct gompi_ranks_list, rank));
}

static size_t list_bytes(int n) { return sizeof(struct gompi_ranks_list) + (size_t)n * sizeof(int32_t); }

static int by_process(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

// Returns the processes of a list in ascending order, each with its rank; NULL if out of memory. Several threads may
// call it at the same time.
static const uint64_t *sorted_ranks(const struct gompi_ranks *r) {
	struct gompi_ranks_list *l = list_of(r);
	uint64_t *s = gompi_load_acquire(&l->sorted), *expected = NULL; // pairs with the compare-and-swap below
	if (s != NULL || (s = malloc((size_t)r->n * sizeof *s)) == NULL)
		return s;
	for (int i = 0; i < r->n; i++)
		s[i] = (uint64_t)(uint32_t)r->list[i] << 32 | (uint32_t)i;
	qsort(s, (size_t)r->n, sizeof *s, by_process);
	if (gompi_cas_strong(&l->sorted, &expected, s))
		return s;
	free(s);
	return expected;
}

static int find_in_list(const struct gompi_ranks *r, int process) {
	const uint64_t *s = r->n > LINEAR_SEARCH_MAX ? sorted_ranks(r) : NULL;
	if (s == NULL) {
		for (int i = 0; i < r->n; i++)
			if (r->list[i] == process)
				return i;
		return -1;
	}
	int from = 0, to = r->n; // invariant: the index of the first element >= process is in [from, to]
	while (from < to) {
		int i = from + (to - from) / 2;
		if ((uint32_t)(s[i] >> 32) < (uint32_t)process)
			from = i + 1;
		else
			to = i;
	}
	return from < r->n && (uint32_t)(s[from] >> 32) == (uint32_t)process ? (int)(uint32_t)s[from] : -1;
}

int gompi_ranks_find_slow(const struct gompi_ranks *r, int process) {
	if (r->list != NULL)
		return find_in_list(r, process);
	if (r->n == 0)
		return -1;
	int distance = process - r->first;
	if (distance % r->stride != 0)
		return -1;
	int i = distance / r->stride;
	return (uint32_t)i < (uint32_t)r->n ? i : -1;
}

int gompi_ranks_compare_slow(const struct gompi_ranks *a, const struct gompi_ranks *b) {
	int result = MPI_IDENT;
	for (int i = 0; i < a->n; i++) {
		int process = gompi_ranks_at(a, i);
		if (gompi_ranks_at(b, i) == process)
			continue;
		result = MPI_SIMILAR;
		if (gompi_ranks_find(b, process) < 0)
			return MPI_UNEQUAL;
	}
	return result;
}

// Converts r, which has no list, to a list with the given capacity. Returns false if out of memory.
static bool make_list(struct gompi_ranks *r, int capacity) {
	struct gompi_ranks_list *l = malloc(list_bytes(capacity));
	if (l == NULL)
		return false;
	gompi_store(&l->ref_count, 1);
	gompi_store(&l->sorted, NULL);
	for (int i = 0; i < r->n; i++)
		l->rank[i] = r->first + i * r->stride;
	r->list = l->rank;
	return true;
}

bool gompi_ranks_append(struct gompi_ranks *r, int process, int capacity) {
	if (r->list == NULL) {
		if (r->n == 0)
			r->first = process, r->stride = 1;
		else if (r->n == 1)
			r->stride = process - r->first;
		else if (process != r->first + r->n * r->stride && !make_list(r, capacity))
			return false;
	}
	if (r->list != NULL)
		r->list[r->n] = process;
	r->n++;
	return true;
}

void gompi_ranks_shrink(struct gompi_ranks *r) {
	struct gompi_ranks_list *l = r->list == NULL ? NULL : realloc(list_of(r), list_bytes(r->n));
	if (l != NULL)
		r->list = l->rank;
}

void gompi_ranks_release(struct gompi_ranks *r) {
	if (r->list != NULL) {
		struct gompi_ranks_list *l = list_of(r);
		if (gompi_sub_seq_cst(&l->ref_count, 1) == 1) {
			free(gompi_load(&l->sorted));
			free(l);
		}
	}
	*r = (struct gompi_ranks){0};
}

void gompi_ranks_share(struct gompi_ranks *to, const struct gompi_ranks *from) {
	struct gompi_ranks both = *from;
	if (both.list != NULL)
		gompi_add(&list_of(&both)->ref_count, 1);
	gompi_ranks_release(to);
	*to = both;
}

bool gompi_ranks_copy(struct gompi_ranks *to, const struct gompi_ranks *from) {
	struct gompi_ranks copy = *from;
	copy.list = NULL;
	if (from->list != NULL) {
		if (!make_list(&copy, from->n))
			return false;
		memcpy(copy.list, from->list, (size_t)from->n * sizeof *copy.list);
	}
	gompi_ranks_release(to);
	*to = copy;
	return true;
}
