// MPI_Win_attach and MPI_Win_detach (MPI-5.0 12.2.4). Each member writes its own table under the lock; look_up in
// attached.c reads it. Both calls are local, and cost O(n) in the number of attached regions.
#include <inttypes.h>
#include <stdlib.h>

#include "base/biased.h"
#include "base/up.h"
#include "win/attached.h"
#include "win/z_calls.h"

// lock guards all tables of this process and this struct. region lists, by address, the memory of this process that
// others can address through the node's memfd. core/rma/memory.go defines which memory that is.
static struct {
	struct gompi_biased lock;
	struct gompi_attached_entry *region;
	uint64_t regions, room;
} attaching;

// Returns the index of the first of n entries that does not begin before an address.
static uint64_t entry_from(struct gompi_attached_entry *e, uint64_t n, uint64_t address) {
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

static void write_entry(struct gompi_attached_entry *e, uint64_t address, uint64_t size, int64_t heap) {
	gompi_store(&e->address, address);
	gompi_store(&e->size, size);
	gompi_store(&e->heap, (uint64_t)heap);
}

static void copy_entry(struct gompi_attached_entry *to, struct gompi_attached_entry *from) {
	write_entry(to, gompi_load(&from->address), gompi_load(&from->size), (int64_t)gompi_load(&from->heap));
}

// Inserts an entry at index i of n.
static void insert_entry(struct gompi_attached_entry *e, uint64_t n, uint64_t i, uint64_t address, uint64_t size,
			 int64_t heap) {
	for (; n > i; n--)
		copy_entry(&e[n], &e[n - 1]);
	write_entry(&e[i], address, size, heap);
}

static void remove_entry(struct gompi_attached_entry *e, uint64_t n, uint64_t i) {
	for (; i + 1 < n; i++)
		copy_entry(&e[i], &e[i + 1]);
}

// Begins a change of a table. Readers may read meanwhile, find out from the version afterwards, and retry: half-written
// words do no harm.
static void begin_change(struct gompi_attached *t) {
	gompi_store(&t->version, gompi_load(&t->version) + 1); // odd: readers retry
	gompi_store_fence();                                   // pairs with gompi_load_fence in look_up
}

static void end_change(struct gompi_attached *t, uint64_t count) {
	gompi_store(&t->count, count);
	gompi_store_release(&t->version, gompi_load(&t->version) + 1); // pairs with the acquire in look_up
}

void gompi_regions_add(uintptr_t address, uint64_t size, int64_t heap) {
	gompi_biased_take(&attaching.lock);
	if (attaching.regions == attaching.room) {
		uint64_t room = attaching.room == 0 ? 16 : 2 * attaching.room;
		void *more = realloc(attaching.region, room * sizeof *attaching.region);
		if (more == NULL) { // others access unlisted memory by messages, like memory from malloc
			gompi_biased_give(&attaching.lock);
			return;
		}
		attaching.region = more;
		attaching.room = room;
	}
	uint64_t i = entry_from(attaching.region, attaching.regions, address);
	insert_entry(attaching.region, attaching.regions++, i, address, size, heap);
	gompi_biased_give(&attaching.lock);
}

void gompi_regions_remove(uintptr_t address) {
	gompi_biased_take(&attaching.lock);
	uint64_t i = entry_from(attaching.region, attaching.regions, address);
	if (i < attaching.regions && gompi_load(&attaching.region[i].address) == address)
		remove_entry(attaching.region, attaching.regions--, i);
	gompi_biased_give(&attaching.lock);
}

// Returns the offset of memory of this process in the node's memfd, or -1 if it is not there.
static int64_t heap_of(uint64_t address, uint64_t size) {
	uint64_t i = entry_from(attaching.region, attaching.regions, address + 1);
	if (i == 0)
		return -1;
	struct gompi_attached_entry *e = &attaching.region[i - 1];
	uint64_t before = address - gompi_load(&e->address), all = gompi_load(&e->size);
	return before <= all && size <= all - before ? (int64_t)(gompi_load(&e->heap) + before) : -1;
}

bool gompi_attached_overlaps(uintptr_t handle, uint64_t from, uint64_t to) {
	struct gompi_win *w = gompi_win_get((MPI_Win)handle);
	bool found = false;
	if (w == NULL || w->attached == NULL)
		return false;
	gompi_biased_take(&attaching.lock);
	struct gompi_attached *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count);
	for (uint64_t i = 0; i < n && !found; i++) {
		uint64_t address = gompi_load(&t->entry[i].address);
		found = (int64_t)gompi_load(&t->entry[i].heap) < 0 && address < to &&
			from < address + gompi_load(&t->entry[i].size);
	}
	gompi_biased_give(&attaching.lock);
	return found;
}

// Records a region of size 0, which is in no table, so that it can be detached. Returns false if out of memory.
static bool attach_nothing(struct gompi_win *w, uint64_t address) {
	if (w->empty.n == w->empty.room) {
		uint32_t room = w->empty.room == 0 ? 16 : 2 * w->empty.room;
		uint64_t *more = realloc(w->empty.at, room * sizeof *more);
		if (more == NULL)
			return false;
		w->empty.at = more;
		w->empty.room = room;
	}
	w->empty.at[w->empty.n++] = address;
	return true;
}

static bool detach_nothing(struct gompi_win *w, uint64_t address) {
	for (uint32_t i = w->empty.n; i-- > 0;)
		if (w->empty.at[i] == address) {
			w->empty.at[i] = w->empty.at[--w->empty.n];
			return true;
		}
	return false;
}

static __attribute__((cold)) int overlap(struct gompi_verdict *v, uint64_t address, uint64_t size,
					 struct gompi_attached_entry *e) {
	return gompi_error(v, MPI_ERR_RMA_ATTACH,
			   "%" PRIu64 " bytes at %#" PRIx64 " overlap the %" PRIu64 " bytes at %#" PRIx64
			   ", which are already attached",
			   size, address, gompi_load(&e->size), gompi_load(&e->address));
}

enum { FULL = -1 }; // the allocated table has no space for another entry

// Attaches memory; the caller holds the lock. Returns 0, the class of the error status, or FULL.
static int attach(struct gompi_win *w, uint64_t address, uint64_t size, struct gompi_verdict *v) {
	struct gompi_attached *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count), i = entry_from(t->entry, n, address);
	if (size == 0)
		return attach_nothing(w, address) ? MPI_SUCCESS
						  : gompi_error(v, MPI_ERR_NO_MEM, "out of memory for a region");
	if (i > 0 && address < gompi_load(&t->entry[i - 1].address) + gompi_load(&t->entry[i - 1].size))
		return overlap(v, address, size, &t->entry[i - 1]);
	if (i < n && gompi_load(&t->entry[i].address) < address + size)
		return overlap(v, address, size, &t->entry[i]);
	if (n == GOMPI_MOST_ATTACHED)
		return gompi_error(v, MPI_ERR_RMA_ATTACH,
				   "the maximum of %d attached regions is reached: detach some first",
				   GOMPI_MOST_ATTACHED);
	if (sizeof *t + (n + 1) * sizeof *t->entry > w->attached_bytes)
		return FULL;
	begin_change(t);
	insert_entry(t->entry, n, i, address, size, heap_of(address, size));
	end_change(t, n + 1);
	return MPI_SUCCESS;
}

int gompi_win_attach(MPI_Win win, void *base, MPI_Aint size) {
	static const char call[] = "MPI_Win_attach";
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	// most: maximum address of any process on any system
	uint64_t address = (uintptr_t)base, most = UINT64_C(1) << 56;
	if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
		return gompi_win_error(win, call, MPI_ERR_RMA_FLAVOR,
				       "MPI_Win_attach needs a window of MPI_Win_create_dynamic");
	if (size < 0)
		return gompi_win_error(win, call, MPI_ERR_SIZE, "size is %" PRId64 "; it must not be negative",
				       (int64_t)size);
	if (base == NULL && size > 0)
		return gompi_win_error(win, call, MPI_ERR_BASE, "base is NULL, but size is %" PRId64, (int64_t)size);
	if (address > most || (uint64_t)size > most - address)
		return gompi_win_error(win, call, MPI_ERR_SIZE,
				       "%" PRId64 " bytes at %#" PRIx64 " exceed the address space", (int64_t)size,
				       address);
	struct gompi_verdict v;
	for (uint64_t bytes = 0;;) {
		gompi_biased_take(&attaching.lock);
		if (bytes > w->attached_bytes)
			w->attached_bytes = bytes;
		int class = attach(w, address, (uint64_t)size, &v);
		gompi_biased_give(&attaching.lock);
		if (class == MPI_SUCCESS)
			return class;
		if (class != FULL || (v.class = gompi_up.grow_attached(w->handle, &bytes, v.text)) != MPI_SUCCESS)
			return gompi_win_refuse(win, call, &v);
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
				       "MPI_Win_detach needs a window of MPI_Win_create_dynamic");
	uint64_t address = (uintptr_t)base;
	gompi_biased_take(&attaching.lock);
	struct gompi_attached *t = gompi_load(&w->attached[w->me]);
	uint64_t n = gompi_load(&t->count), i = entry_from(t->entry, n, address);
	bool found = i < n && gompi_load(&t->entry[i].address) == address;
	if (found) {
		begin_change(t);
		remove_entry(t->entry, n, i);
		end_change(t, n - 1);
	} else {
		found = detach_nothing(w, address);
	}
	gompi_biased_give(&attaching.lock);
	return found ? MPI_SUCCESS
		     : gompi_win_error(win, call, MPI_ERR_BASE, "no memory is attached at %#" PRIx64, address);
}
GOMPI_ENTRY(MPI_Win_detach, gompi_win_detach);
