#include "win/attached.h"

#include <stdlib.h>

#include "base/failure.h"
#include "base/tuning.h"
#include "base/go_callbacks.h"
#include "base/wait.h"

// Waits a moment for the process `peer`, which is changing its table. `spins` is the number of earlier waits for this
// change. *start_ns is 0 before the first wait. After that, it is the time of the first wait, or of the latest check
// whether the process has failed. Returns MPI_ERR_PROC_ABORTED if the process has failed during the change.
static int wait_for_writer(int peer, int spins, int64_t *start_ns) {
	if (spins < GOMPI_ATTACHED_TABLE_POLLS && !gompi_node.policy.is_oversubscribed) {
		gompi_pause();
		return MPI_SUCCESS;
	}
	int64_t now = gompi_now_ns();
	if (*start_ns == 0)
		*start_ns = now;
	gompi_yield_timed(&now);
	if (now - *start_ns < gompi_node.policy.max_sleep_ns)
		return MPI_SUCCESS;
	*start_ns = now;
	gompi_go_callbacks.find_failed();
	if (!gompi_is_failed(peer))
		return MPI_SUCCESS;
	gompi_note_failed(peer);
	return MPI_ERR_PROC_ABORTED;
}

// Copies the entry of peer's table that holds the address `from`. Returns 0, MPI_ERR_RMA_RANGE if no entry holds the
// address, or MPI_ERR_PROC_ABORTED. The peer may be writing the table. So the count is not trusted, and the values are
// valid only if the version is the same before and after the reads.
static int look_up(struct gompi_attached_regions *table, int peer, uint64_t from, uint64_t *address, uint64_t *size,
		   int64_t *heap_offset) {
	int64_t start_ns = 0;
	for (int spins = 0;; spins++) {
		uint64_t version = gompi_load_acquire(&table->version);
		uint64_t low = 0, high = gompi_load(&table->count);
		if (high > GOMPI_MAX_ATTACHED)
			high = GOMPI_MAX_ATTACHED;
		while (low < high) { // the last entry that does not begin after `from` is low - 1
			uint64_t middle = (low + high) / 2;
			if (gompi_load(&table->entry[middle].address) <= from)
				low = middle + 1;
			else
				high = middle;
		}
		bool found = false;
		if (low > 0) {
			struct gompi_attached_entry *e = &table->entry[low - 1];
			*address = gompi_load(&e->address);
			*size = gompi_load(&e->size);
			*heap_offset = (int64_t)gompi_load(&e->heap_offset);
			found = from >= *address && from - *address < *size;
		}
		gompi_load_fence();
		if (version % 2 == 0 && gompi_load(&table->version) == version)
			return found ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
		int rc = wait_for_writer(peer, spins, &start_ns);
		if (rc != MPI_SUCCESS)
			return rc;
	}
}

// Returns the address at which `size` bytes at heap_offset in the node's memfd are mapped, or NULL if they cannot be
// mapped. The field w->mapping caches the region used last; Go caches all regions. The flag `busy` is not held during
// the call of Go, because that call takes long.
static char *map_heap_region(struct gompi_win *w, int64_t heap_offset, uint64_t size) {
	struct gompi_win_mapping *m = &w->mapping;
	char *base = NULL;
	while (gompi_flag_test_and_set(&m->busy))
		gompi_pause();
	if (m->heap_offset == heap_offset && m->size == size)
		base = m->base;
	gompi_flag_clear(&m->busy);
	if (base != NULL)
		return base;
	base = gompi_go_callbacks.map_attached(w->handle, heap_offset, (int64_t)size);
	while (gompi_flag_test_and_set(&m->busy))
		gompi_pause();
	m->base = base;
	m->heap_offset = heap_offset;
	m->size = size;
	gompi_flag_clear(&m->busy);
	return base;
}

int gompi_attached_find(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **mapped_at) {
	uint64_t end;
	int rc = gompi_attached_find_prefix(w, rank, from, to, mapped_at, &end);
	if (rc != MPI_SUCCESS || end == to)
		return rc;
	*mapped_at = NULL;
	return MPI_ERR_RMA_RANGE;
}

int gompi_attached_find_prefix(struct gompi_win *w, int rank, uint64_t from, uint64_t to, char **mapped_at,
			       uint64_t *end) {
	struct gompi_attached_regions *table = gompi_load_acquire(&w->attached[rank]);
	if (table == NULL) {
		table = gompi_go_callbacks.attached_table(w->handle, rank);
		if (table == NULL)
			return MPI_ERR_NO_MEM;
		// another thread may store the same address, which is harmless
		gompi_store_release(&w->attached[rank], table);
	}
	uint64_t address = 0, size = 0;
	int64_t heap_offset = -1;
	*mapped_at = NULL;
	int rc = to <= from ? MPI_ERR_RMA_RANGE
			    : look_up(table, gompi_member(w, rank)->peer, from, &address, &size, &heap_offset);
	if (rc != MPI_SUCCESS)
		return rc;
	*end = to - address <= size ? to : address + size;
	if (rank == w->me) {
		*mapped_at = (char *)(uintptr_t)from;
	} else if (heap_offset >= 0) {
		// Linux limits the number of mappings of a process (65,530 by default). Regions beyond the limit use
		// the ring path.
		char *base = map_heap_region(w, heap_offset, size);
		if (base != NULL)
			*mapped_at = base + (from - address);
	}
	return MPI_SUCCESS;
}

bool gompi_attached_covers(struct gompi_win *w, int rank, uint64_t from, uint64_t n, uint64_t bytes, uint64_t gap) {
	while (n != 0) {
		char *mapped_at;
		uint64_t end;
		if (gompi_attached_find_prefix(w, rank, from, from + n * bytes - gap, &mapped_at, &end) != MPI_SUCCESS)
			return false;
		uint64_t found = (end - from + gap) / bytes;
		if (found == 0)
			return false;
		from += found * bytes;
		n -= found;
	}
	return true;
}
