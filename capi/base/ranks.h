// Lists of processes, each by its number (process.h).
#ifndef GOMPI_RANKS_H
#define GOMPI_RANKS_H

#include <stddef.h>

#include "base/abi.h"
#include "base/order.h"

#pragma GCC visibility push(hidden)

// Distinct processes in an order: at a regular distance, or listed.
struct gompi_ranks {
	int32_t n, first, stride;
	int32_t *list; // of a struct gompi_ranks_list, NULL: regular
};

// A list does not change once it is complete, and may be in several struct gompi_ranks.
struct gompi_ranks_list {
	gompi_a32 users;
	uint64_t *_Atomic sorted; // processes, with their ranks in the lower half; NULL: nobody has searched so far
	int32_t rank[];
};

// The process of rank i, from 0 up to n.
static inline int gompi_ranks_at(const struct gompi_ranks *r, int i) {
	return r->list == NULL ? r->first + i * r->stride : r->list[i];
}

// The rank of a process; -1: it is not a member. It costs O(log n), or O(1) if r is regular.
int gompi_ranks_find_far(const struct gompi_ranks *r, int process);
static inline int gompi_ranks_find(const struct gompi_ranks *r, int process) {
	if (__builtin_expect(r->stride != 1 || r->list != NULL, 0))
		return gompi_ranks_find_far(r, process);
	int i = process - r->first;
	return (uint32_t)i < (uint32_t)r->n ? i : -1;
}

// MPI_IDENT for the same members in the same order, MPI_SIMILAR for the same members, else MPI_UNEQUAL.
int gompi_ranks_compare_each(const struct gompi_ranks *a, const struct gompi_ranks *b);
static inline int gompi_ranks_compare(const struct gompi_ranks *a, const struct gompi_ranks *b) {
	if (a->n != b->n)
		return MPI_UNEQUAL;
	if (a->list == b->list && (a->list != NULL || (a->first == b->first && (a->stride == b->stride || a->n <= 1))))
		return MPI_IDENT;
	return gompi_ranks_compare_each(a, b);
}

// Appends a process that is not there to r, which begins with nothing and does not get more than most; nobody else has
// r yet. false: there is no memory.
bool gompi_ranks_append(struct gompi_ranks *r, int process, int most);
// Gives back what a list has room for beyond its ranks.
void gompi_ranks_fit(struct gompi_ranks *r);
// Makes *to, which is given up, what from is. Its list becomes one of both (share), or is any array (copy): then false
// says that there is no memory, and *to is as before.
void gompi_ranks_share(struct gompi_ranks *to, const struct gompi_ranks *from);
bool gompi_ranks_copy(struct gompi_ranks *to, const struct gompi_ranks *from);
// Gives r up: it has no members.
void gompi_ranks_drop(struct gompi_ranks *r);

#pragma GCC visibility pop
#endif
