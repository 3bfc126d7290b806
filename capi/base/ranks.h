// Lists of processes, each identified by its number (process.h).
#ifndef GOMPI_RANKS_H
#define GOMPI_RANKS_H

#include <stddef.h>

#include "base/abi.h"
#include "base/atomics.h"

#pragma GCC visibility push(hidden)

// An ordered sequence of distinct processes. Their numbers either have a constant stride or are in a list.
struct gompi_ranks {
	int32_t n, first, stride;
	int32_t session; // handle of the session that the list is derived from; 0 if it is not derived from a session
	int32_t *list;   // array of a struct gompi_ranks_list; NULL if the stride is constant
};

// A reference-counted list. Once the list is complete it does not change, and several struct gompi_ranks may share it.
struct gompi_ranks_list {
	gompi_a32 ref_count;
	uint64_t *_Atomic sorted; // elements process << 32 | rank, in ascending order; NULL until the first search
	int32_t rank[];
};

// Returns the process with rank i, 0 <= i < n.
static inline int gompi_ranks_at(const struct gompi_ranks *r, int i) {
	return r->list == NULL ? r->first + i * r->stride : r->list[i];
}

// Returns the rank of a process, or -1 if it is not a member. Costs O(log n), or O(1) if r has a constant stride.
int gompi_ranks_find_slow(const struct gompi_ranks *r, int process);
static inline int gompi_ranks_find(const struct gompi_ranks *r, int process) {
	if (__builtin_expect(r->stride != 1 || r->list != NULL, 0))
		return gompi_ranks_find_slow(r, process);
	int i = process - r->first;
	return (uint32_t)i < (uint32_t)r->n ? i : -1;
}

// Returns MPI_IDENT for the same members in the same order, MPI_SIMILAR for the same members in a different order, else
// MPI_UNEQUAL.
int gompi_ranks_compare_slow(const struct gompi_ranks *a, const struct gompi_ranks *b);
static inline int gompi_ranks_compare(const struct gompi_ranks *a, const struct gompi_ranks *b) {
	if (a->n != b->n)
		return MPI_UNEQUAL;
	if (a->list == b->list && (a->list != NULL || (a->first == b->first && (a->stride == b->stride || a->n <= 1))))
		return MPI_IDENT;
	return gompi_ranks_compare_slow(a, b);
}

// Returns true if two lists that are not empty are derived from different sessions, or only one of them from a session.
static inline bool gompi_ranks_differ_in_session(const struct gompi_ranks *a, const struct gompi_ranks *b) {
	return a->session != b->session && a->n > 0 && b->n > 0;
}

// Appends a process that is not yet in r. The caller starts with an empty r, appends at most `capacity` processes, and
// has not published r yet. Returns false if out of memory.
bool gompi_ranks_append(struct gompi_ranks *r, int process, int capacity);
// Shrinks the memory of a list to the size that its ranks need.
void gompi_ranks_shrink(struct gompi_ranks *r);
// Releases the former content of `*to` and makes `*to` equal to `*from`. gompi_ranks_share makes the two share one
// list. gompi_ranks_copy copies the list, so from->list may be any array. If out of memory, gompi_ranks_copy returns
// false and leaves *to unchanged.
void gompi_ranks_share(struct gompi_ranks *to, const struct gompi_ranks *from);
bool gompi_ranks_copy(struct gompi_ranks *to, const struct gompi_ranks *from);
// Releases the list of r and makes r empty.
void gompi_ranks_release(struct gompi_ranks *r);

#pragma GCC visibility pop
#endif
