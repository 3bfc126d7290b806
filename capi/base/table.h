// Lock-free lookup of objects by handle. A table holds objects for handles that core/handle creates, or handles that C
// creates itself. By core/handle's rule, the live handles of a kind differ in as many low bits as the index of its
// table has. So the low bits of a handle are the index of its entry. A table for core/handle's handles has only as many
// entries as the handles known to C need to differ.
#ifndef GOMPI_TABLE_H
#define GOMPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

// A free entry holds a value whose low bits are the index of another entry, so no lookup matches it. The value is the
// complement of the number after which the next handle of this entry continues.
struct gompi_table_entry {
	_Atomic uintptr_t handle; // the release store publishes object
	void *_Atomic object;     // not NULL if a lookup can find the entry
};
_Static_assert(sizeof(uintptr_t) == 8, "a number and an entry");

struct gompi_table_entries {
	struct gompi_table_entries *before; // the outgrown table with half as many entries; NULL if there is none
	uintptr_t mask;                     // mask of the low bits that are the index of the entry
	struct gompi_table_entry entry[];
};

// A table that becomes too small is replaced, and the old one stays unchanged. A thread that still reads the old one
// holds no handle that was created later.
struct gompi_table {
	struct gompi_table_entries *_Atomic now; // the release store publishes the entries
};

// A table whose handles C creates, by core/handle's rule. It never shrinks. The owner's lock guards changes.
struct gompi_handles {
	struct gompi_table table;
	uint32_t above;   // the bits of each handle above its number
	uint32_t numbers; // the largest number, 2^k - 1
	// FIFO of free entries, in the order of their release: byte offsets from the start of the entries' memory, in a
	// ring buffer of as many elements as there are entries. It is not a list linked through the entries, because
	// each call would then wait for one more memory access.
	uint32_t *ring, first, next; // index of the first free entry, and behind the last one
	uint32_t few;                // the table should grow when at most few entries are free
};

// Free list of objects of one kind. Objects are never returned to the system, so a late call with a stale handle still
// reads valid memory.
struct gompi_spares {
	size_t bytes, next; // size of an object; offset in it of the link to the next one
	void *first;
};

// The number of objects of a kind. The owner's lock guards it.
struct gompi_crowd {
	int64_t live, most; // most: maximum of live since memory was last returned to the system
};

static inline void gompi_crowd_more(struct gompi_crowd *c) {
	if (++c->live > c->most)
		c->most = c->live;
}

// gompi_crowd_less counts an object less. It returns true once when live has fallen to an eighth of most, if most is at
// least many: then it is worthwhile to return memory to the system.
static inline bool gompi_crowd_less(struct gompi_crowd *c) {
	const int64_t many = 65536;
	if (--c->live > c->most / 8 || c->most < many)
		return false;
	c->most = c->live;
	return true;
}

#pragma GCC visibility push(hidden)

// The content of every table before the first object is stored.
extern struct gompi_table_entries gompi_table_nothing;

// gompi_table_place returns the entry to which a handle belongs.
static inline struct gompi_table_entry *gompi_table_place(struct gompi_table_entries *t, uintptr_t handle) {
	return &t->entry[handle & t->mask];
}

// gompi_table_find returns the entry of a handle, or NULL.
static inline struct gompi_table_entry *gompi_table_find(struct gompi_table *t, uintptr_t handle) {
	// acquire: pairs with the release in gompi_table_put
	struct gompi_table_entry *e = gompi_table_place(gompi_load_acquire(&t->now), handle);
	// acquire: pairs with the release where the entry is filled
	return __builtin_expect(gompi_is(&e->handle, handle), 1) ? e : NULL;
}

// gompi_table_in returns the object of an entry that gompi_table_find has returned.
static inline void *gompi_table_in(struct gompi_table_entry *e) {
	void *object = gompi_load(&e->object);
	if (object == NULL)
		__builtin_unreachable(); // so that callers' tests for NULL cost nothing here
	return object;
}

// gompi_table_get returns the object of a handle, or NULL.
static inline void *gompi_table_get(struct gompi_table *t, uintptr_t handle) {
	struct gompi_table_entry *e = gompi_table_find(t, handle);
	return __builtin_expect(e == NULL, 0) ? NULL : gompi_table_in(e);
}

// gompi_table_put stores an object, which must not be NULL, for a handle unless the handle already has one. Returns the
// object stored for the handle, or NULL if out of memory.
void *gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object);
// gompi_table_remove removes the object of a handle and returns it, or NULL if there is none.
void *gompi_table_remove(struct gompi_table *t, uintptr_t handle);

// gompi_handles_open initializes an empty table.
void gompi_handles_open(struct gompi_handles *s, uint32_t above, uint32_t numbers);
// gompi_handles_grow doubles the number of entries if there is memory. Returns the current entries.
__attribute__((cold)) struct gompi_table_entries *gompi_handles_grow(struct gompi_handles *s);
// gompi_handles_trim returns to the system the pages of outgrown tables, and the freed memory that the C library keeps.
// It is called when gompi_crowd_less returns true. A thread that still reads an outgrown table finds zeros, which match
// no handle except 0.
void gompi_handles_trim(struct gompi_handles *s);
// gompi_handles_close frees the memory of the table.
void gompi_handles_close(struct gompi_handles *s);

// gompi_table_leave makes an entry free. A thread that reads the entry concurrently may still get the old object.
static inline void gompi_table_leave(struct gompi_table_entry *e, uint32_t number) {
	gompi_store(&e->handle, ~(uintptr_t)number);
}

// gompi_handles_free returns the number of free entries.
static inline uint32_t gompi_handles_free(const struct gompi_handles *s) { return s->next - s->first; }

// gompi_handles_push appends an entry to the free entries.
static inline void gompi_handles_push(struct gompi_handles *s, struct gompi_table_entries *t,
				      struct gompi_table_entry *e) {
	s->ring[s->next++ & t->mask] = (uint32_t)((char *)e - (char *)t);
}

// gompi_handles_add returns a handle for an object; 0 if out of memory or if the maximum number of handles is live.
static inline uintptr_t gompi_handles_add(struct gompi_handles *s, void *object) {
	struct gompi_table_entries *t = gompi_load(&s->table.now);
	if (__builtin_expect(gompi_handles_free(s) <= s->few, 0)) {
		t = gompi_handles_grow(s);
		if (gompi_handles_free(s) == 0)
			return 0;
	}
	struct gompi_table_entry *e = (struct gompi_table_entry *)((char *)t + s->ring[s->first++ & t->mask]);
	uint32_t was = ~(uint32_t)gompi_load(&e->handle);
	uintptr_t handle = s->above | ((was + (uint32_t)t->mask + 1) & s->numbers);
	gompi_store(&e->object, object);
	gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
	return handle;
}

// gompi_handles_leave removes the live handle of an entry that its owner has found under the lock.
static inline void gompi_handles_leave(struct gompi_handles *s, struct gompi_table_entry *e, uintptr_t handle) {
	gompi_table_leave(e, (uint32_t)handle);
	gompi_handles_push(s, gompi_load(&s->table.now), e);
}

// gompi_handles_remove removes a live handle.
static inline void gompi_handles_remove(struct gompi_handles *s, uintptr_t handle) {
	gompi_handles_leave(s, gompi_table_place(gompi_load(&s->table.now), handle), handle);
}

// gompi_spares_take returns an object from the free list, with its former content, or a new zeroed object; NULL if out
// of memory. gompi_spares_give puts an object on the free list.
void *gompi_spares_take(struct gompi_spares *s);
void gompi_spares_give(struct gompi_spares *s, void *object);

#pragma GCC visibility pop
#endif
