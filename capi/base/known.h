// What C knows of objects that Go makes, so that calls that only ask, and the data path, need no Go. Each kind is a
// struct gompi_known: groups, info objects, communicators, operations, datatypes and the facts of those that are not
// committed. The kind's own file has the struct of a slot, which is what C knows of one object, and fills it in.
//
// Go has a slot filled in when it makes the object or, where programs rarely ask, when C asks for it (ask). Then the
// slot does not change. When the object changes or is freed, Go has it forgotten: nobody finds it any longer, and it is
// used again, or its kind ends it.
//
// Readers take no lock. Where objects only come and go they use gompi_known_get: a program that frees an object while
// another thread uses it is wrong, and still finds memory, since slots are not given back to the system. Where objects
// change while other threads may ask about them they use gompi_known_read, and what is forgotten stays until they are
// done.
//
// Not of this form are windows, which put and get find faster (win/win.h), and what is the same for all objects of a
// kind: predefined types and attributes, MPI_COMM_WORLD and MPI_COMM_SELF.
#ifndef GOMPI_KNOWN_H
#define GOMPI_KNOWN_H

#include "base/mutex.h"
#include "base/table.h"

struct gompi_known {
	struct gompi_table table;
	bool (*const *ask)(uintptr_t handle); // has Go fill a slot in (base/up.h); NULL: it does so unasked
	void (*end)(void *slot);              // for kinds that make their slots themselves; NULL: spares has them
	struct gompi_spares spares;
	uint32_t most;              // slots that spares gives out at a time; 0: any number
	gompi_a32 taken;            // and how many it has
	bool changes;               // readers use gompi_known_read
	struct gompi_brief reading; // one does for all objects
};

#pragma GCC visibility push(hidden)

// gompi_known_take returns a slot to be filled in, which has what it had when it was given, or is new and zero. NULL:
// there is no memory, or as many are in use as can be.
void *gompi_known_take(struct gompi_known *k);
// gompi_known_give ends a slot that nobody finds, or has it used again.
void gompi_known_give(struct gompi_known *k, void *slot);
// gompi_known_keep makes a slot found by a handle, unless there is one: threads may be told of an object at once. Then,
// or if there is no memory, the slot is given. false: none is found.
bool gompi_known_keep(struct gompi_known *k, uintptr_t handle, void *slot);
// gompi_known_forget gives the slot of a handle, which there need not be.
void gompi_known_forget(struct gompi_known *k, uintptr_t handle);
// gompi_known_get returns what is known of an object; NULL: there is no such object. Of a kind that Go fills in unasked
// gompi_table_get tells the same.
static inline void *gompi_known_get(struct gompi_known *k, uintptr_t handle) {
	void *slot = gompi_table_get(&k->table, handle);
	if (__builtin_expect(slot == NULL, 0) && (*k->ask)(handle))
		slot = gompi_table_get(&k->table, handle);
	return slot;
}

// gompi_known_done ends what gompi_known_read has begun.
static inline void gompi_known_done(struct gompi_known *k) { gompi_brief_give(&k->reading); }

// gompi_known_read returns the same as gompi_known_get, to be used until gompi_known_done. NULL: nothing has begun.
static inline const void *gompi_known_read(struct gompi_known *k, uintptr_t handle) {
	for (;;) {
		gompi_brief_take(&k->reading);
		const void *slot = gompi_table_get(&k->table, handle);
		if (slot != NULL)
			return slot;
		gompi_known_done(k);
		if (!(*k->ask)(handle))
			return NULL;
	}
}

#pragma GCC visibility pop
#endif
