// The processes that this one knows: of its own job, and of any that it comes to know later. All of C and Go call a
// process by its number here, its place in this table; ranks are of groups, and the rank in MPI_COMM_WORLD is one of
// them. The processes of a job have numbers in a row, in the order of those ranks; those of this process' own job come
// first, so that all of that job call each other alike.
//
// The table grows at its end while others read it, and nothing in it changes.
#ifndef GOMPI_PROCESS_H
#define GOMPI_PROCESS_H

#include "base/order.h"

#pragma GCC visibility push(hidden)

struct gompi_process {
	uint32_t job;  // number of its job, 0: this process' own
	int32_t rank;  // in MPI_COMM_WORLD of its job
	int32_t node;  // number of its node, among all that are known
	int32_t index; // on this process' node; -1: it is on another
};

enum { GOMPI_FIRST_PROCESSES = 64, GOMPI_PROCESS_CHUNKS = 20 };
struct gompi_processes {
	int32_t self;     // number of this process
	int32_t in_order; // the first so many are on this node, and their numbers are their indices
	gompi_ai32 n;     // how many there are; the store releases their entries
	int32_t nodes;    // that they are on
	struct gompi_process *_Atomic chunk[GOMPI_PROCESS_CHUNKS]; // chunk i of GOMPI_FIRST_PROCESSES << i entries
};

// Returns an empty table; NULL: there is no memory.
struct gompi_processes *gompi_processes_new(void);
void gompi_processes_free(struct gompi_processes *t);

// Adds the n processes of a job, with their nodes and indices by rank; node_of NULL: all are on node 0, index NULL: all
// are on this process' node, in order. Returns the number of the first, -1: there is no memory. One thread at a time.
int gompi_processes_add(struct gompi_processes *t, uint32_t job, int n, const int32_t *node_of, const int32_t *index);

static inline int gompi_processes_n(const struct gompi_processes *t) {
	return gompi_load_acquire(&t->n); // pairs with the release in gompi_processes_add
}

// Returns what is known of the process with a number from 0 up to n.
static inline struct gompi_process *gompi_process(const struct gompi_processes *t, int number) {
	const uint32_t at = (uint32_t)number + GOMPI_FIRST_PROCESSES;
	const int i = 25 - __builtin_clz(at); // 0 for 64, the first
	return &gompi_load(&t->chunk[i])[at - ((uint32_t)GOMPI_FIRST_PROCESSES << i)];
}

// Returns the index of a process on this node; -1: it is on another, or there is none with that number.
static inline int gompi_process_index(const struct gompi_processes *t, int number) {
	if ((uint32_t)number < (uint32_t)t->in_order)
		return number;
	return (uint32_t)number < (uint32_t)gompi_processes_n(t) ? gompi_process(t, number)->index : -1;
}

#pragma GCC visibility pop
#endif
