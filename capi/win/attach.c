// MPI_Win_attach and MPI_Win_detach (MPI-5.0 12.2.4). Each member writes its own table of attached regions, under
// attach_state.lock; look_up in attached.c reads the tables. Both MPI calls are local, and take O(n) time for n
// attached regions.
#include <inttypes.h>
#include <stdlib.h>

#include "base/biased_mutex.h"
#include "base/go_callbacks.h"
#include "win/attached.h"
#include "win/z_calls.h"

// `lock` guards all tables of this process and this struct. heap_regions lists, by address, the memory of this process
// that other processes can map through the node's memfd (core/rma/memory.go).
static struct {
	struct gompi_biased_mutex lock;
	struct gompi_attached_entry *heap_regions;
	uint64_t heap_region_count, capacity;
} attach_state;

// Returns the index of the first of n entries that does not begin before an address.
static uint64_t find_entry_from(struct gompi_attached_entry *e, uint64_t n, uint64_t address) {
	uint64_t low = 0, high = n;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (gompi_load(&e[middle].address) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void write_entry(struct gompi_attached_entry *e, uint64_t address, uint64_t size, int64_t heap_offset) {
	gompi_store(&e->address, address);
	gompi_store(&e->size, size);
	gompi_store(&e->heap_offset, (uint64_t)heap_offset);
}

static void copy_entry(struct gompi_attached_entry *to, struct gompi_attached_entry *from) {
	write_entry(to, gompi_load(&from->address), gompi_load(&from->size), (int64_t)gompi_load(&from->heap_offset));
}

// Inserts an entry at index i of n.
static void insert_entry(struct gompi_attached_entry *e, uint64_t n, uint64_t i, uint64_t address, uint64_t size,
			 int64_t heap_offset) {
	for (; n > i; n--)
		copy_entry(&e[n], &e[n - 1]);
	write_entry(&e[i], address, size, heap_offset);
}

static void remove_entry(struct gompi_attached_entry *e, uint64_t n, uint64_t i) {
	for (; i + 1 < n; i++)
		copy_entry(&e[i], &e[i + 1]);
}

// Begins a change of a table (sequence lock). A reader that reads the table during the change notices the change by the
// version and retries, so half-written entries do no harm.
static void begin_change(struct gompi_attached_regions *t) {
	gompi_store(&t->version, gompi_load(&t->version) + 1); // odd: readers retry
	gompi_store_fence();                                   // pairs with gompi_load_fence in look_up
}

static void end_change(struct gompi_attached_regions *t, uint64_t count) {
	gompi_store(&t->count, count);
	gompi_store_release(&t->version, gompi_load(&t->version) + 1); // pairs with the acquire in look_up
}

void gompi_heap_region_add(uintptr_t address, uint64_t size, int64_t heap_offset) {
	gompi_biased_lock(&attach_state.lock);
	if (attach_state.heap_region_count == attach_state.capacity) {
		uint64_t capacity = attach_state.capacity == 0 ? 16 : 2 * attach_state.capacity;
		void *grown = realloc(attach_state.heap_regions, capacity * sizeof *attach_state.heap_regions);
		if (grown == NULL) { // other processes then access this memory by messages, like memory from malloc
			gompi_biased_unlock(&attach_state.lock);
			return;
		}
		attach_state.heap_regions = grown;
		attach_state.capacity = capacity;
	}
	uint64_t i = find_entry_from(attach_state.heap_regions, attach_state.heap_region_count, address);
	insert_entry(attach_state.heap_regions, attach_state.heap_region_count++, i, address, size, heap_offset);
	gompi_biased_unlock(&attach_state.lock);
}

void gompi_heap_region_remove(uintptr_t address) {
	gompi_biased_lock(&attach_state.lock);
	uint64_t i = find_entry_from(attach_state.heap_regions, attach_state.heap_region_count, address);
	if (i < attach_state.heap_region_count && gompi_load(&attach_state.heap_regions[i].address) == address)
		remove_entry(attach_state.heap_regions, attach_state.heap_region_count--, i);
	gompi_biased_unlock(&attach_state.lock);
}

// Returns the offset in the node's memfd of memory of this process, or -1 if the memory is not in the memfd.
static int64_t heap_offset_of(uint64_t address, uint64_t size) {
	uint64_t i = find_entry_from(attach_state.heap_regions, attach_state.heap_region_count, address + 1);
	if (i == 0)
		return -1;
	struct gompi_attached_entry *e = &attach_state.heap_regions[i - 1];
	uint64_t offset = address - gompi_load(&e->address), region_bytes = gompi_load(&e->size);
	return offset <= region_bytes && size <= region_bytes - offset ? (int64_t)(gompi_load(&e->heap_offset) + offset)
								       : -1;
}

bool gompi_attached_overlaps(uintptr_t handle, uint64_t from, uint64_t to) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	bool found = false;
	if (w == NULL || w->attached == NULL)
		return false;
	gompi_biased_lock(&attach_state.lock);
	struct gompi_attached_regions *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count);
	for (uint64_t i = 0; i < n && !found; i++) {
		uint64_t address = gompi_load(&t->entry[i].address);
		found = (int64_t)gompi_load(&t->entry[i].heap_offset) < 0 && address < to &&
			from < address + gompi_load(&t->entry[i].size);
	}
	gompi_biased_unlock(&attach_state.lock);
	return found;
}

// Records the address of an attached region of size 0, so that it can be detached. The tables of attached regions do
// not contain such regions. Returns false if out of memory.
static bool attach_empty(struct gompi_win *w, uint64_t address) {
	if (w->empty_regions.n == w->empty_regions.capacity) {
		uint32_t capacity = w->empty_regions.capacity == 0 ? 16 : 2 * w->empty_regions.capacity;
		uint64_t *grown = realloc(w->empty_regions.at, capacity * sizeof *grown);
		if (grown == NULL)
			return false;
		w->empty_regions.at = grown;
		w->empty_regions.capacity = capacity;
	}
	w->empty_regions.at[w->empty_regions.n++] = address;
	return true;
}

static bool detach_empty(struct gompi_win *w, uint64_t address) {
	for (uint32_t i = w->empty_regions.n; i-- > 0;)
		if (w->empty_regions.at[i] == address) {
			w->empty_regions.at[i] = w->empty_regions.at[--w->empty_regions.n];
			return true;
		}
	return false;
}

static __attribute__((cold)) int report_overlap(struct gompi_error_status *v, uint64_t address, uint64_t size,
						struct gompi_attached_entry *e) {
	return gompi_set_error(v, MPI_ERR_RMA_ATTACH,
			       "%" PRIu64 " bytes at %#" PRIx64 " overlap the %" PRIu64 " bytes at %#" PRIx64
			       ", which are already attached",
			       size, address, gompi_load(&e->size), gompi_load(&e->address));
}

enum { TABLE_FULL = -1 }; // the allocated table has no space for another entry

// Attaches memory; the caller holds the lock. Returns 0, the class of the error status, or TABLE_FULL.
static int attach(struct gompi_win *w, uint64_t address, uint64_t size, struct gompi_error_status *v) {
	struct gompi_attached_regions *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count), i = find_entry_from(t->entry, n, address);
	if (size == 0)
		return attach_empty(w, address)
			       ? MPI_SUCCESS
			       : gompi_set_error(v, MPI_ERR_NO_MEM,
						 "out of memory for the description of an attached region of 0 bytes");
	if (i > 0 && address < gompi_load(&t->entry[i - 1].address) + gompi_load(&t->entry[i - 1].size))
		return report_overlap(v, address, size, &t->entry[i - 1]);
	if (i < n && gompi_load(&t->entry[i].address) < address + size)
		return report_overlap(v, address, size, &t->entry[i]);
	if (n == GOMPI_MAX_ATTACHED)
		return gompi_set_error(
			v, MPI_ERR_RMA_ATTACH,
			"the maximum of %d attached regions is reached: detach a region first (MPI_Win_detach)",
			GOMPI_MAX_ATTACHED);
	if (sizeof *t + (n + 1) * sizeof *t->entry > w->attached_bytes)
		return TABLE_FULL;
	begin_change(t);
	insert_entry(t->entry, n, i, address, size, heap_offset_of(address, size));
	end_change(t, n + 1);
	return MPI_SUCCESS;
}

int gompi_win_attach(MPI_Win win, void *base, MPI_Aint size) {
	static const char call[] = "MPI_Win_attach";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	// max_address is above all addresses of a process, on any system
	uint64_t address = (uintptr_t)base, max_address = UINT64_C(1) << 56;
	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return gompi_win_error(win, call, MPI_ERR_RMA_FLAVOR,
				       "MPI_Win_attach needs a window that MPI_Win_create_dynamic created");
	if (size < 0)
		return gompi_win_error(win, call, MPI_ERR_SIZE, "size is %" PRId64 "; it must not be negative",
				       (int64_t)size);
	if (base == NULL && size > 0)
		return gompi_win_error(win, call, MPI_ERR_BASE, "base is NULL, but size is %" PRId64, (int64_t)size);
	if (address > max_address || (uint64_t)size > max_address - address)
		return gompi_win_error(win, call, MPI_ERR_SIZE,
				       "%" PRId64 " bytes at %#" PRIx64 " exceed the address space", (int64_t)size,
				       address);
	struct gompi_error_status v;
	for (uint64_t bytes = 0;;) {
		gompi_biased_lock(&attach_state.lock);
		if (bytes > w->attached_bytes)
			w->attached_bytes = bytes;
		int class = attach(w, address, (uint64_t)size, &v);
		gompi_biased_unlock(&attach_state.lock);
		if (class == MPI_SUCCESS)
			return class;
		if (class != TABLE_FULL ||
		    (v.class = gompi_go_callbacks.grow_attached(w->handle, &bytes, v.text)) != MPI_SUCCESS)
			return gompi_win_raise(win, call, &v);
	}
}
GOMPI_ENTRY(MPI_Win_attach, gompi_win_attach);

int gompi_win_detach(MPI_Win win, const void *base) {
	static const char call[] = "MPI_Win_detach";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return gompi_win_error(win, call, MPI_ERR_RMA_FLAVOR,
				       "MPI_Win_detach needs a window that MPI_Win_create_dynamic created");
	uint64_t address = (uintptr_t)base;
	gompi_biased_lock(&attach_state.lock);
	struct gompi_attached_regions *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count), i = find_entry_from(t->entry, n, address);
	bool found = i < n && gompi_load(&t->entry[i].address) == address;
	if (found) {
		begin_change(t);
		remove_entry(t->entry, n, i);
		end_change(t, n - 1);
	} else {
		found = detach_empty(w, address);
	}
	gompi_biased_unlock(&attach_state.lock);
	return found ? MPI_SUCCESS
		     : gompi_win_error(win, call, MPI_ERR_BASE, "no memory is attached at %#" PRIx64, address);
}
GOMPI_ENTRY(MPI_Win_detach, gompi_win_detach);
