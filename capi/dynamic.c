#include "dynamic.h"

#include <stdlib.h>

#include "z_entry.h"

// Copies the entry of table that holds from. Whether there is one. Another process writes the table: its count is not
// trusted, and what was read counts only if the version is the same before and after.
static bool look_up(struct gompi_attached *table, uint64_t from, uint64_t *address, uint64_t *size, int64_t *heap) {
	for (;;) {
		uint64_t version = atomic_load_explicit(&table->version, memory_order_acquire);
		uint64_t low = 0, high = atomic_load_explicit(&table->count, memory_order_relaxed);
		if (high > GOMPI_MOST_ATTACHED)
			high = GOMPI_MOST_ATTACHED;
		while (low < high) { // the last entry that does not begin behind from is low - 1
			uint64_t middle = (low + high) / 2;
			if (atomic_load_explicit(&table->entry[middle].address, memory_order_relaxed) <= from)
				low = middle + 1;
			else
				high = middle;
		}
		bool found = false;
		if (low > 0) {
			struct gompi_attached_entry *e = &table->entry[low - 1];
			*address = atomic_load_explicit(&e->address, memory_order_relaxed);
			*size = atomic_load_explicit(&e->size, memory_order_relaxed);
			*heap = (int64_t)atomic_load_explicit(&e->heap, memory_order_relaxed);
			found = from >= *address && from - *address < *size;
		}
		atomic_thread_fence(memory_order_acquire);
		if (version % 2 == 0 && atomic_load_explicit(&table->version, memory_order_relaxed) == version)
			return found;
		gompi_pause();
	}
}

// Where size bytes at heap are mapped here, NULL if they cannot be. The region used last is remembered here, Go
// remembers all.
static char *mapped(struct gompi_win *w, int64_t heap, uint64_t size) {
	struct gompi_win_mapping *m = &w->mapping;
	while (atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire))
		gompi_pause();
	if (m->base == NULL || m->heap != heap || m->size != size) {
		m->base = (char *)gompi_dynamic_map(w->handle, heap, (int64_t)size);
		m->heap = heap;
		m->size = size;
	}
	char *base = m->base;
	atomic_flag_clear_explicit(&m->busy, memory_order_release);
	return base;
}

int gompi_dynamic_find(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **here) {
	uint64_t end;
	int rc = gompi_dynamic_find_some(w, rank, from, to, here, &end);
	if (rc != MPI_SUCCESS || end == to)
		return rc;
	*here = NULL;
	return MPI_ERR_RMA_RANGE;
}

int gompi_dynamic_find_some(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **here, uint64_t *end) {
	struct gompi_attached *table = w->attached[rank];
	if (table == NULL) {
		table = (struct gompi_attached *)gompi_dynamic_table(w->handle, rank);
		if (table == NULL)
			return MPI_ERR_NO_MEM;
		w->attached[rank] = table;
	}
	uint64_t address, size;
	int64_t heap;
	*here = NULL;
	if (to <= from || !look_up(table, from, &address, &size, &heap))
		return MPI_ERR_RMA_RANGE;
	*end = to - address <= size ? to : address + size;
	if (rank == w->me) {
		*here = (char *)(uintptr_t)from;
	} else if (heap >= 0) {
		// A system allows so many mappings (65,530 by default); what is beyond goes the agent path.
		char *base = mapped(w, heap, size);
		if (base != NULL)
			*here = base + (from - address);
	}
	return MPI_SUCCESS;
}
