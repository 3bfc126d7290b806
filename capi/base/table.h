// What C keeps for handles that core/handle makes, found without a lock. The numbers of live handles differ in as many
// of their low bits as core/handle's table of them has, so that many bits tell the entry; here it is as few as tell
// apart the handles that C knows.
#ifndef GOMPI_TABLE_H
#define GOMPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/order.h"

// An entry that is free has a handle that belongs to another entry, so that nothing finds it.
struct gompi_table_entry {
	_Atomic uintptr_t handle; // the store releases object
	void *_Atomic object;     // not NULL where something can be found
};

struct gompi_table_entries {
	struct gompi_table_entries *before; // with half as many
	uintptr_t mask;                     // of the low bits that tell the entry
	struct gompi_table_entry entry[];
};

// A table that becomes too small is replaced and stays as it was: a thread that still looks there knows no handle that
// was made later.
struct gompi_table {
	struct gompi_table_entries *_Atomic now; // the store releases the entries
};

// Objects of one kind to be used again. None is given back to the system, so that a call that comes too late finds
// memory.
struct gompi_spares {
	size_t bytes, next; // of an object; where in it the address of the next one lies
	void *first;
};

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

// gompi_table_put keeps an object, which is not NULL, for a handle. false: there is no memory.
bool gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object);
// gompi_table_remove takes it away and returns it; NULL: there was none.
void *gompi_table_remove(struct gompi_table *t, uintptr_t handle);

// gompi_spares_take returns an object with what it had when it was given, or a new one that is zero; NULL: there is no
// memory.
void *gompi_spares_take(struct gompi_spares *s);
void gompi_spares_give(struct gompi_spares *s, void *object);

#pragma GCC visibility pop
#endif
