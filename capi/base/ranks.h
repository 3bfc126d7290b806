// Lists of processes, each by its number (process.h).
#ifndef GOMPI_RANKS_H
#define GOMPI_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Distinct processes in an order: at a regular distance, or listed.
struct gompi_ranks {
	int32_t n, first, stride;
	int32_t *list; // NULL: regular
};

// The process of rank i, from 0 up to n.
static inline int gompi_ranks_at(const struct gompi_ranks *r, int i) {
	return r->list == NULL ? r->first + i * r->stride : r->list[i];
}

// Returns true if a search through the list costs less than a call into Go, which keeps lists sorted.
static inline bool gompi_ranks_few(const struct gompi_ranks *r) { return r->list == NULL || r->n <= 64; }

// The rank of a process; -1: it is not a member. It costs O(n) in a list.
int gompi_ranks_find(const struct gompi_ranks *r, int process);

// MPI_IDENT for the same members in the same order, MPI_SIMILAR for the same members, else MPI_UNEQUAL.
int gompi_ranks_compare(const struct gompi_ranks *a, const struct gompi_ranks *b);

// Makes *to, whose list is given up, a copy of from. false: there is no memory for the list; *to is as before.
bool gompi_ranks_copy(struct gompi_ranks *to, const struct gompi_ranks *from);

#pragma GCC visibility pop
#endif
