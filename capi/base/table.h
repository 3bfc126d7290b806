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
// number that it goes on after.
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
	uint32_t above;   // what is above the number in each handle
	uint32_t numbers; // the largest number, of which all bits are set
	// Entries that are free, by when they became so: where they lie, counted in bytes from the beginning of the
	// entries' memory, in a ring of as many as there are entries. They are not linked by what is in them: that
	// would be one more place that each call has to wait for.
	uint32_t *ring, first, next; // of those that are free, and behind the last one
	uint32_t few;                // if no more are free, there should be more entries
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

// gompi_table_find returns the entry that has a handle, or NULL.
static inline struct gompi_table_entry *gompi_table_find(struct gompi_table *t, uintptr_t handle) {
	// acquire: pairs with the release in gompi_table_put
	struct gompi_table_entry *e = gompi_table_place(gompi_load_acquire(&t->now), handle);
	// acquire: pairs with the release where the entry is filled
	return __builtin_expect(gompi_is(&e->handle, handle), 1) ? e : NULL;
}

// gompi_table_in returns what an entry has that was found.
static inline void *gompi_table_in(struct gompi_table_entry *e) {
	void *object = gompi_load(&e->object);
	if (object == NULL)
		__builtin_unreachable(); // so that callers' tests for NULL cost nothing here
	return object;
}

// gompi_table_get returns what is kept for a handle, or NULL.
static inline void *gompi_table_get(struct gompi_table *t, uintptr_t handle) {
	struct gompi_table_entry *e = gompi_table_find(t, handle);
	return __builtin_expect(e == NULL, 0) ? NULL : gompi_table_in(e);
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

static inline uint32_t gompi_handles_free(const struct gompi_handles *s) { return s->next - s->first; }

// gompi_handles_push appends an entry to those that are free.
static inline void gompi_handles_push(struct gompi_handles *s, struct gompi_table_entries *t,
				      struct gompi_table_entry *e) {
	s->ring[s->next++ & t->mask] = (uint32_t)((char *)e - (char *)t);
}

// gompi_handles_add returns a handle for an object; 0: there is no memory, or as many are live as can be.
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

// gompi_handles_leave takes away the live handle of an entry that its owner has found under the lock.
static inline void gompi_handles_leave(struct gompi_handles *s, struct gompi_table_entry *e, uintptr_t handle) {
	gompi_table_leave(e, (uint32_t)handle);
	gompi_handles_push(s, gompi_load(&s->table.now), e);
}

// gompi_handles_remove takes a live handle away.
static inline void gompi_handles_remove(struct gompi_handles *s, uintptr_t handle) {
	gompi_handles_leave(s, gompi_table_place(gompi_load(&s->table.now), handle), handle);
}

// gompi_spares_take returns an object with what it had when it was given, or a new one that is zero; NULL: there is no
// memory.
void *gompi_spares_take(struct gompi_spares *s);
void gompi_spares_give(struct gompi_spares *s, void *object);

#pragma GCC visibility pop
#endif
