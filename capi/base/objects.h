// Objects of one kind that C creates: the lock of the kind, their handles, and a free list of released objects. Readers
// that access an object only during its lifetime find it without the lock, by gompi_table_get.
#ifndef GOMPI_OBJECTS_H
#define GOMPI_OBJECTS_H

#include "base/biased.h"
#include "base/table.h"

struct gompi_objects {
	struct gompi_biased lock; // guards the fields below and the objects
	struct gompi_handles handles;
	size_t bytes; // size of an object; its first 8 bytes link the free list
	void *spare;  // free list
	int room;     // free capacity of the free list; lower by GOMPI_OBJECTS_MANY while there are many objects
	struct gompi_crowd crowd; // counts all objects, including those on the free list
};

// The kinds whose handles C creates besides requests, by core/handle.Kind (compared in capi/layout.go).
enum {
	GOMPI_KIND_OP = 1,
	GOMPI_KIND_GROUP = 3,
	GOMPI_KIND_MESSAGE = 7,
	GOMPI_KIND_INFO = 8,
	GOMPI_KIND_ERRHANDLER = 9,
	GOMPI_KIND_PERSISTENT = 10, // requests; the application never sees core/handle's handles of this kind
	GOMPI_KIND_DATATYPE = 11,
	GOMPI_KIND_REQUEST = 12, // of messages; core/handle knows neither this kind nor keyvals
	GOMPI_KIND_KEYVAL = 13,  // the first of several kinds, one for each kind of keyval
};
// bits of the number in a handle; maximum number of objects of a kind
enum { GOMPI_KIND_BITS = 27, GOMPI_KIND_MOST = 1 << 24 };

enum { GOMPI_OBJECTS_SPARE = 64, GOMPI_OBJECTS_MANY = 4096 };

// Initializer of a struct gompi_objects for a kind with objects of a type.
#define GOMPI_OBJECTS(kind, type)                                         \
	{                                                                 \
		.handles = {.table = {&gompi_table_nothing},              \
			    .above = (uint32_t)(kind) << GOMPI_KIND_BITS, \
			    .numbers = (1U << GOMPI_KIND_BITS) - 1},      \
		.bytes = sizeof(type), .room = GOMPI_OBJECTS_SPARE        \
	}

#pragma GCC visibility push(hidden)

// The caller of these functions holds the lock.

// Allocates a new, zeroed object. Returns NULL if out of memory.
__attribute__((cold)) void *gompi_objects_more(struct gompi_objects *s);
// Frees an object, and returns the memory of its kind to the system if most objects are gone.
__attribute__((cold)) void gompi_objects_less(struct gompi_objects *s, void *object);

// Returns an object from the free list, which keeps its former content except for the first 8 bytes, or a new zeroed
// object. Returns NULL if out of memory.
static inline void *gompi_objects_take(struct gompi_objects *s) {
	void **object = s->spare;
	if (__builtin_expect(object == NULL, 0))
		return gompi_objects_more(s);
	s->spare = *object;
	s->room++;
	return object;
}

// Releases an object to the free list, or to the system if the list is full.
static inline void gompi_objects_give(struct gompi_objects *s, void *object) {
	if (__builtin_expect(--s->room < 0, 0)) {
		gompi_objects_less(s, object);
		return;
	}
	*(void **)object = s->spare;
	s->spare = object;
}

// Returns true if the free list has capacity for another object.
static inline bool gompi_objects_keeps(const struct gompi_objects *s) { return s->room > 0; }

// Returns the number of objects in use, that is, not on the free list.
static inline int gompi_objects_used(const struct gompi_objects *s) {
	int many = s->room < 0 ? GOMPI_OBJECTS_MANY : 0;
	return (int)s->crowd.live - (GOMPI_OBJECTS_SPARE - many - s->room);
}

#pragma GCC visibility pop
#endif
