// Objects found by their handles without a lock: what C keeps for handles that core/handle makes, and handles that C
// makes itself. The numbers of live handles of a kind differ in as many of their low bits as core/handle's table of
// them has, so that many bits tell the entry. Where core/handle makes the handles it is as few here as tell apart those
// that C knows.
#ifndef GOMPI_TABLE_H
#define GOMPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

// An entry that is free has a handle that belongs to another entry, so that nothing finds it: the complement of the
// number that it goes on after and, from bit 32 on, of the free entry behind it (gompi_handles_add).
struct gompi_table_entry {
	_Atomic uintptr_t handle; // the store releases object
	void *_Atomic object;     // not NULL where something can be found
};
_Static_assert(sizeof(uintptr_t) == 8, "a number and an entry");

struct gompi_table_entries {
	struct gompi_table_entries *before; // with half as many; NULL: there are none
	uintptr_t mask;                     // of the low bits that tell the entry
	struct gompi_table_entry entry[];
};

// A table that becomes too small is replaced and stays as it was: a thread that still looks there knows no handle that
// was made later.
struct gompi_table {
	struct gompi_table_entries *_Atomic now; // the store releases the entries
};

// A table whose handles C makes, by core/handle's rule; it does not shrink. It is changed under its owner's lock.
struct gompi_handles {
	struct gompi_table table;
	uint32_t above;             // what is above the number in each handle
	uint32_t numbers;           // the largest number, of which all bits are set
	uint32_t first, last, free; // entries that are free, by when they became so, and how many
};

// Objects of one kind to be used again. None is given back to the system, so that a call that comes too late finds
// memory.
struct gompi_spares {
	size_t bytes, next; // of an object; where in it the address of the next one lies
	void *first;
};

// How many objects of a kind there are, changed under their owner's lock.
struct gompi_crowd {
	int64_t live, most; // the most there were since memory was given back
};

static inline void gompi_crowd_more(struct gompi_crowd *c) {
	if (++c->live > c->most)
		c->most = c->live;
}

// gompi_crowd_less returns true when seven eighths of many have gone, once: then their memory is worth giving back.
static inline bool gompi_crowd_less(struct gompi_crowd *c) {
	const int64_t many = 65536;
	if (--c->live > c->most / 8 || c->most < many)
		return false;
	c->most = c->live;
	return true;
}

#pragma GCC visibility push(hidden)

// What a table has before anything is kept.
extern struct gompi_table_entries gompi_table_nothing;

// gompi_table_place returns where a handle belongs.
static inline struct gompi_table_entry *gompi_table_place(struct gompi_table_entries *t, uintptr_t handle) {
	return &t->entry[handle & t->mask];
}

// gompi_table_get returns what is kept for a handle, or NULL.
static inline void *gompi_table_get(struct gompi_table *t, uintptr_t handle) {
	// acquire: pairs with the release in gompi_table_put
	struct gompi_table_entry *e = gompi_table_place(gompi_load_acquire(&t->now), handle);
	// acquire: pairs with the release where the entry is filled
	if (__builtin_expect(gompi_load_acquire(&e->handle) != handle, 0))
		return NULL;
	void *object = gompi_load(&e->object);
	if (object == NULL)
		__builtin_unreachable(); // so that callers' tests for NULL cost nothing here
	return object;
}

// gompi_table_put keeps an object, which is not NULL, for a handle, unless there is one already, and returns the one
// that is kept. NULL: there is no memory.
void *gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object);
// gompi_table_remove takes it away and returns it; NULL: there was none.
void *gompi_table_remove(struct gompi_table *t, uintptr_t handle);

// gompi_handles_open makes a table empty.
void gompi_handles_open(struct gompi_handles *s, uint32_t above, uint32_t numbers);
// gompi_handles_grow makes twice as many entries, if there is memory, and returns those that there are.
__attribute__((cold)) struct gompi_table_entries *gompi_handles_grow(struct gompi_handles *s);
// gompi_handles_trim gives back the pages of tables that nothing is added to any longer, and what the C library keeps
// of memory that has been freed: where gompi_crowd_less tells to. Whoever still looks in such a table finds nothing, if
// it is not for the handle 0.
void gompi_handles_trim(struct gompi_handles *s);
void gompi_handles_close(struct gompi_handles *s);

// gompi_table_leave makes an entry one that nothing finds. What reads the entry just now gets the old object.
static inline void gompi_table_leave(struct gompi_table_entry *e, uint32_t number) {
	gompi_store(&e->handle, ~(uintptr_t)number);
}

// gompi_handles_push appends an entry to those that are free; no other is behind it.
static inline void gompi_handles_push(struct gompi_handles *s, struct gompi_table_entries *t, uint32_t i) {
	if (s->free == 0) {
		s->first = i;
	} else {
		struct gompi_table_entry *last = &t->entry[s->last];
		gompi_store(&last->handle, gompi_load(&last->handle) ^ (uintptr_t)i << 32);
	}
	s->last = i;
	s->free++;
}

// gompi_handles_add returns a handle for an object; 0: there is no memory, or as many are live as can be.
static inline uintptr_t gompi_handles_add(struct gompi_handles *s, void *object) {
	struct gompi_table_entries *t = gompi_load(&s->table.now);
	if (__builtin_expect(2 * (uintptr_t)s->free <= t->mask + 1, 0)) {
		t = gompi_handles_grow(s);
		if (s->free == 0)
			return 0;
	}
	struct gompi_table_entry *e = &t->entry[s->first];
	uintptr_t was = ~gompi_load(&e->handle), handle = s->above | (((uint32_t)was + t->mask + 1) & s->numbers);
	s->first = (uint32_t)(was >> 32);
	s->free--;
	gompi_store(&e->object, object);
	gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
	return handle;
}

// gompi_handles_remove takes a live handle away.
static inline void gompi_handles_remove(struct gompi_handles *s, uintptr_t handle) {
	struct gompi_table_entries *t = gompi_load(&s->table.now);
	gompi_table_leave(gompi_table_place(t, handle), (uint32_t)handle);
	gompi_handles_push(s, t, (uint32_t)(handle & t->mask));
}

// gompi_spares_take returns an object with what it had when it was given, or a new one that is zero; NULL: there is no
// memory.
void *gompi_spares_take(struct gompi_spares *s);
void gompi_spares_give(struct gompi_spares *s, void *object);

#pragma GCC visibility pop
#endif
