// Lock-free lookup of objects by handle. The handles of a table are created either by core/handle (struct gompi_table)
// or by C (struct gompi_handles). The low bits of a handle are the index of its entry: by a rule of core/handle, no two
// live handles of a kind are equal in these bits. A table of handles from core/handle grows only as far as the handles
// that are stored in it require.
#ifndef GOMPI_TABLE_H
#define GOMPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"

// In a free entry, the field `handle` is the complement ~n of n, the number of the entry's last handle. The low bits of
// ~n are the index of another entry, so no lookup matches a free entry. The next handle of the entry has the number n +
// the number of entries.
struct gompi_table_entry {
	_Atomic uintptr_t handle; // stored with release after `object`: a lookup that finds the handle sees the object
	void *_Atomic object;     // not NULL if a lookup can find the entry
};
_Static_assert(sizeof(uintptr_t) == 8, "a number and an entry");

struct gompi_table_entries {
	struct gompi_table_entries *previous; // the outgrown table with half as many entries; NULL for the first table
	uintptr_t mask;                       // number of entries - 1; selects the bits of a handle that are the index
	struct gompi_table_entry entry[];
};

// The number of objects of a kind. The owner's lock guards it.
struct gompi_live_count {
	int64_t live, peak; // peak: maximum of `live` since memory was last returned to the system
};

static inline void gompi_live_count_inc(struct gompi_live_count *c) {
	if (++c->live > c->peak)
		c->peak = c->live;
}

// Decrements the count. Returns true once when `live` has fallen to an eighth of `peak`, if `peak` is at least
// min_peak. The caller should then return memory to the system.
static inline bool gompi_live_count_dec_from(struct gompi_live_count *c, int64_t min_peak) {
	if (--c->live > c->peak / 8 || c->peak < min_peak)
		return false;
	c->peak = c->live;
	return true;
}
static inline bool gompi_live_count_dec(struct gompi_live_count *c) { return gompi_live_count_dec_from(c, 65536); }

// A larger table replaces one that is too small. The old table stays valid for threads that still read it. These
// threads look up handles that are older than the new table, so the old table contains them.
struct gompi_table {
	struct gompi_table_entries *_Atomic entries; // a release store to this field publishes the entries
	struct gompi_live_count live_count;          // counts the objects that gompi_table_put has stored
};

// A table whose handles C creates, by core/handle's rule. It never shrinks. The owner's lock guards changes.
struct gompi_handles {
	struct gompi_table table;
	uint32_t kind_bits;  // the bits of each handle above its number
	uint32_t max_number; // the largest number; it is 2^k - 1, because numbers have k bits
	// Ring buffer of the free entries, in the order of their release. It has as many elements as the table has
	// entries. An element is the byte offset of a free entry from the start of struct gompi_table_entries. A list
	// that is linked through the entries would cost each call one more dependent memory access. free_head: index of
	// the first element; free_tail: index after the last element
	uint32_t *free_ring, free_head, free_tail;
	uint32_t grow_threshold; // the table grows when at most this many entries are free
};

// Free list of objects of one kind. Objects are never returned to the system, so a late call with a stale handle still
// reads valid memory.
struct gompi_free_list {
	size_t object_bytes, link_offset; // size of an object; offset of the link to the next object
	void *head;
};

#pragma GCC visibility push(hidden)

// The content of every table before the first object is stored.
extern struct gompi_table_entries gompi_table_empty;

// Returns the entry to which a handle belongs.
static inline struct gompi_table_entry *gompi_table_entry_of(struct gompi_table_entries *t, uintptr_t handle) {
	return &t->entry[handle & t->mask];
}

// Returns the entry of a handle, or NULL if the handle has no object.
static inline struct gompi_table_entry *gompi_table_find(struct gompi_table *t, uintptr_t handle) {
	// acquire: pairs with the release in gompi_table_put
	struct gompi_table_entry *e = gompi_table_entry_of(gompi_load_acquire(&t->entries), handle);
	// acquire: pairs with the release where the entry is filled
	return __builtin_expect(gompi_equals_acquire(&e->handle, handle), 1) ? e : NULL;
}

// Returns the object of an entry that gompi_table_find has returned.
static inline void *gompi_table_object(struct gompi_table_entry *e) {
	void *object = gompi_load(&e->object);
	if (object == NULL)
		__builtin_unreachable(); // lets the compiler remove the callers' tests for NULL
	return object;
}

// Returns the object of a handle, or NULL if the handle has none.
static inline void *gompi_table_get(struct gompi_table *t, uintptr_t handle) {
	struct gompi_table_entry *e = gompi_table_find(t, handle);
	return __builtin_expect(e == NULL, 0) ? NULL : gompi_table_object(e);
}

// Stores an object, which must not be NULL, for a handle unless the handle already has an object. Returns the object
// stored for the handle, or NULL if out of memory.
void *gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object);
// Removes the object of a handle and returns it. Returns NULL if the handle has no object.
void *gompi_table_remove(struct gompi_table *t, uintptr_t handle);

// Initializes an empty table. kind_bits and max_number are as in struct gompi_handles.
void gompi_handles_open(struct gompi_handles *s, uint32_t kind_bits, uint32_t max_number);
// Doubles the number of entries unless out of memory or at the maximum. Returns the entries that the table has
// afterwards.
__attribute__((cold)) struct gompi_table_entries *gompi_handles_grow(struct gompi_handles *s);
// Returns to the system the pages of outgrown tables, and the freed memory that the C library keeps. The caller calls
// the function when gompi_live_count_dec returns true. A thread that still reads an outgrown table finds zeros, which
// match no handle except 0.
void gompi_handles_trim(struct gompi_handles *s);
// Frees the memory of the table.
void gompi_handles_close(struct gompi_handles *s);

// Makes an entry free. The argument `number` is the number of the entry's last handle. A thread that reads the entry
// concurrently may still get the old object.
static inline void gompi_table_free_entry(struct gompi_table_entry *e, uint32_t number) {
	gompi_store(&e->handle, ~(uintptr_t)number);
}

// Returns the number of free entries.
static inline uint32_t gompi_handles_free_count(const struct gompi_handles *s) { return s->free_tail - s->free_head; }

// Appends an entry to the free entries.
static inline void gompi_handles_push_free(struct gompi_handles *s, struct gompi_table_entries *t,
					   struct gompi_table_entry *e) {
	s->free_ring[s->free_tail++ & t->mask] = (uint32_t)((char *)e - (char *)t);
}

// Returns a handle for an object; 0 if out of memory or if the maximum number of handles is live.
static inline uintptr_t gompi_handles_add(struct gompi_handles *s, void *object) {
	struct gompi_table_entries *t = gompi_load(&s->table.entries);
	if (__builtin_expect(gompi_handles_free_count(s) <= s->grow_threshold, 0)) {
		t = gompi_handles_grow(s);
		if (gompi_handles_free_count(s) == 0)
			return 0;
	}
	struct gompi_table_entry *e = (struct gompi_table_entry *)((char *)t + s->free_ring[s->free_head++ & t->mask]);
	uint32_t was = ~(uint32_t)gompi_load(&e->handle);
	uintptr_t handle = s->kind_bits | ((was + (uint32_t)t->mask + 1) & s->max_number);
	gompi_store(&e->object, object);
	gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
	return handle;
}

// Removes a live handle, whose entry is e. The caller holds the lock of the table's owner.
static inline void gompi_handles_remove_entry(struct gompi_handles *s, struct gompi_table_entry *e, uintptr_t handle) {
	gompi_table_free_entry(e, (uint32_t)handle);
	gompi_handles_push_free(s, gompi_load(&s->table.entries), e);
}

// Removes a live handle. The caller holds the lock of the table's owner.
static inline void gompi_handles_remove(struct gompi_handles *s, uintptr_t handle) {
	gompi_handles_remove_entry(s, gompi_table_entry_of(gompi_load(&s->table.entries), handle), handle);
}

// Returns an object from the free list, with its former content, or a new zeroed object; NULL if out of memory.
void *gompi_free_list_alloc(struct gompi_free_list *s);
// Returns an object to the free list.
void gompi_free_list_put(struct gompi_free_list *s, void *object);
// Frees all objects of the linked list that starts at `first`. The argument link_offset is the offset, in an object, of
// the link to the next object.
void gompi_free_all(void *first, size_t link_offset);

#pragma GCC visibility pop
#endif
