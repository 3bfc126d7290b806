#include "base/process.h"

#include <stdlib.h>

_Static_assert(sizeof(struct gompi_process) == 16, "16 bytes for each process that is known");
_Static_assert(GOMPI_FIRST_CHUNK_ENTRIES == 1 << (31 - 25), "gompi_process");

struct gompi_processes *gompi_processes_new(void) {
	return calloc(1, sizeof(struct gompi_processes));
}

void gompi_processes_free(struct gompi_processes *t) {
	for (int i = 0; t != NULL && i < GOMPI_PROCESS_CHUNKS; i++)
		free(gompi_load(&t->chunk[i]));
	free(t);
}

// Allocates the chunks for all numbers below n. Returns false if out of memory.
static bool alloc_chunks(struct gompi_processes *t, int64_t n) {
	int64_t capacity = 0;
	for (int i = 0; capacity < n; i++) {
		if (i == GOMPI_PROCESS_CHUNKS)
			return false;
		const size_t entries = (size_t)GOMPI_FIRST_CHUNK_ENTRIES << i;
		capacity += (int64_t)entries;
		if (gompi_load(&t->chunk[i]) != NULL)
			continue;
		struct gompi_process *chunk = calloc(entries, sizeof *chunk); // untouched pages use no memory
		if (chunk == NULL)
			return false;
		gompi_store(&t->chunk[i], chunk); // the release store of n publishes it
	}
	return true;
}

int gompi_processes_add(struct gompi_processes *t, uint32_t job, int n, const int32_t *node_of, const int32_t *index) {
	const int first = gompi_processes_count(t);
	if (!alloc_chunks(t, (int64_t)first + n))
		return -1;
	bool in_order = t->in_order_count == first;
	for (int rank = 0; rank < n; rank++) {
		struct gompi_process p = {.job = job,
					  .rank = rank,
					  .node = node_of != NULL ? node_of[rank] : 0,
					  .local_index = index != NULL ? index[rank] : rank};
		in_order = in_order && p.local_index == first + rank;
		if (p.node >= t->node_count)
			t->node_count = p.node + 1;
		*gompi_process(t, first + rank) = p;
	}
	// Only the first job, this process' own, sets in_order_count, because threads read in_order_count without
	// synchronization.
	if (first == 0 && in_order)
		t->in_order_count = n;
	if (first == 0)
		t->world_size = n;
	gompi_store_release(&t->n, first + n); // pairs with gompi_processes_count
	return first;
}

int gompi_processes_add_foreign(struct gompi_processes *t, uint32_t job, int rank, int node) {
	const int number = gompi_processes_count(t);
	if (!alloc_chunks(t, (int64_t)number + 1))
		return -1;
	*gompi_process(t, number) = (struct gompi_process){.job = job, .rank = rank, .node = node, .local_index = -1};
	if (node >= t->node_count)
		t->node_count = node + 1;
	gompi_store_release(&t->n, number + 1); // pairs with gompi_processes_count
	return number;
}
