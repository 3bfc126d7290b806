// The processes that this process knows: those of its own job, and of other jobs that it connects to later. C and Go
// identify a process by its number, which is its index in this table. A rank, in contrast, is relative to a group. The
// processes of a job have consecutive numbers, in the order of their ranks in MPI_COMM_WORLD. The processes of this
// process' own job come first, so they all use the same numbers for each other.
//
// The table grows at its end while other threads read it. Of existing entries, only the flags of the end change.
#ifndef GOMPI_PROCESS_H
#define GOMPI_PROCESS_H

#include "base/atomics.h"

#pragma GCC visibility push(hidden)

struct gompi_process {
	// Number of its job; 0 for this process' own job. The flags GOMPI_JOB_FAILED and GOMPI_JOB_ENDED are added when
	// a process of another job has failed, or has ended after MPI_Finalize. If this process has a session after
	// MPI_Finalize, they are also added when a process of this job on another node fails or ends.
	gompi_a32 job;
	int32_t rank;        // rank in MPI_COMM_WORLD of its job
	int32_t node;        // number of its node, among all known nodes
	int32_t local_index; // index on this process' node; -1 if it is on another node
};

enum { GOMPI_FIRST_CHUNK_ENTRIES = 64, GOMPI_PROCESS_CHUNKS = 20 };
#define GOMPI_JOB_FAILED (1u << 31)
#define GOMPI_JOB_ENDED (1u << 30)
#define GOMPI_JOB_FLAGS (GOMPI_JOB_FAILED | GOMPI_JOB_ENDED)
struct gompi_processes {
	int32_t self; // number of this process
	// the processes of this process' job have the numbers world_first to world_first + world_size - 1
	int32_t world_first, world_size;
	// the first in_order_count processes are on this node; the local_index of each equals its number
	int32_t in_order_count;
	gompi_ai32 n;           // number of processes; the release store publishes their entries
	int32_t node_count;     // number of nodes of these processes
	gompi_a32 failed_count; // number of failures and ends of other jobs' processes that this process knows
	struct gompi_process *_Atomic chunk[GOMPI_PROCESS_CHUNKS]; // chunk i has GOMPI_FIRST_CHUNK_ENTRIES << i entries
};

// Returns an empty table, or NULL if out of memory.
struct gompi_processes *gompi_processes_new(void);
void gompi_processes_free(struct gompi_processes *t);

// Adds the n processes of a job. The node of a process is node_of[rank]; if node_of is NULL, all processes are on node
// 0. The local_index of a process is index[rank]; if `index` is NULL, it equals the rank. Returns the number of the
// process with rank 0, or -1 if out of memory. Only one thread at a time may call the function.
int gompi_processes_add(struct gompi_processes *t, uint32_t job, int n, const int32_t *node_of, const int32_t *index);

// Adds a process of another job, which has the given rank in its MPI_COMM_WORLD, and runs on another node. Returns its
// number, or -1 if out of memory. Only one thread at a time may call the function.
int gompi_processes_add_foreign(struct gompi_processes *t, uint32_t job, int rank, int node);

static inline int gompi_processes_count(const struct gompi_processes *t) {
	return gompi_load_acquire(&t->n); // pairs with the release in gompi_processes_add
}

// Returns the entry of the process with this number; 0 <= number < n.
static inline struct gompi_process *gompi_process(const struct gompi_processes *t, int number) {
	const uint32_t at = (uint32_t)number + GOMPI_FIRST_CHUNK_ENTRIES;
	// number of the chunk: 0 if `at` is 64 to 127, 1 if it is 128 to 255, and so on
	const int i = 25 - __builtin_clz(at);
	return &gompi_load(&t->chunk[i])[at - ((uint32_t)GOMPI_FIRST_CHUNK_ENTRIES << i)];
}

// Returns true if a process is of another job that has none of its processes on this node.
static inline bool gompi_process_is_foreign(const struct gompi_processes *t, int number) {
	return number >= t->in_order_count && (gompi_load(&gompi_process(t, number)->job) & ~GOMPI_JOB_FLAGS) != 0;
}
// Returns true if the flag GOMPI_JOB_FAILED of a process is set.
static inline bool gompi_process_has_failed(const struct gompi_processes *t, int number) {
	return number >= t->in_order_count && (gompi_load(&gompi_process(t, number)->job) & GOMPI_JOB_FAILED) != 0;
}

// Returns true if the flag GOMPI_JOB_ENDED of a process is set.
static inline bool gompi_process_has_ended(const struct gompi_processes *t, int number) {
	return number >= t->in_order_count && (gompi_load(&gompi_process(t, number)->job) & GOMPI_JOB_ENDED) != 0;
}

// Returns the index of a process on this node; -1 if it is on another node or does not exist.
static inline int gompi_process_index(const struct gompi_processes *t, int number) {
	if ((uint32_t)number < (uint32_t)t->in_order_count)
		return number;
	return (uint32_t)number < (uint32_t)gompi_processes_count(t) ? gompi_process(t, number)->local_index : -1;
}

#pragma GCC visibility pop
#endif
