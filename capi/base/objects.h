// Objects of a kind that C makes: the lock of the kind, their handles, and memory of those that have gone. Readers that
// only come while an object lives find it without the lock, by gompi_table_get.
#ifndef GOMPI_OBJECTS_H
#define GOMPI_OBJECTS_H

#include "base/biased.h"
#include "base/table.h"

struct gompi_objects {
	struct gompi_biased lock; // of what follows, and of the objects
	struct gompi_handles handles;
	size_t bytes;             // of an object, of which the first ones are the address of the next in spare
	void *spare;              // some to be used again
	int room;                 // for how many more of those; where there are many objects GOMPI_OBJECTS_MANY less
	struct gompi_crowd crowd; // with these
};

// The kinds whose handles C makes beside requests, by core/handle.Kind (compared in capi/layout.go).
enum {
	GOMPI_KIND_OP = 1,
	GOMPI_KIND_GROUP = 3,
	GOMPI_KIND_MESSAGE = 7,
	GOMPI_KIND_INFO = 8,
	GOMPI_KIND_ERRHANDLER = 9,
	GOMPI_KIND_PERSISTENT = 10, // requests; what core/handle has of that kind no application sees
	GOMPI_KIND_DATATYPE = 11,
	GOMPI_KIND_REQUEST = 12, // of messages; core/handle does not know it, nor keyvals
	GOMPI_KIND_KEYVAL = 13,  // and one more for each kind of these
};
enum { GOMPI_KIND_BITS = 27, GOMPI_KIND_MOST = 1 << 24 }; // of a number in a handle; objects of a kind

enum { GOMPI_OBJECTS_SPARE = 64, GOMPI_OBJECTS_MANY = 4096 };

// What a variable begins with for a kind with objects of a type.
#define GOMPI_OBJECTS(kind, type)                                         \
	{                                                                 \
		.handles = {.table = {&gompi_table_nothing},              \
			    .above = (uint32_t)(kind) << GOMPI_KIND_BITS, \
			    .numbers = (1U << GOMPI_KIND_BITS) - 1},      \
		.bytes = sizeof(type), .room = GOMPI_OBJECTS_SPARE        \
	}

#pragma GCC visibility push(hidden)

// All of these are called under the lock.

// gompi_objects_more returns a new object that is zero; NULL: there is no memory.
__attribute__((cold)) void *gompi_objects_more(struct gompi_objects *s);
// gompi_objects_less gives memory back to the system.
__attribute__((cold)) void gompi_objects_less(struct gompi_objects *s, void *object);

// gompi_objects_take returns an object with what it had when it was given, but for the first 8 bytes, or a new one that
// is zero; NULL: there is no memory.
static inline void *gompi_objects_take(struct gompi_objects *s) {
	void **object = s->spare;
	if (__builtin_expect(object == NULL, 0))
		return gompi_objects_more(s);
	s->spare = *object;
	s->room++;
	return object;
}

static inline void gompi_objects_give(struct gompi_objects *s, void *object) {
	if (__builtin_expect(--s->room < 0, 0)) {
		gompi_objects_less(s, object);
		return;
	}
	*(void **)object = s->spare;
	s->spare = object;
}

// gompi_objects_keeps returns true if the memory of the next one is kept to be used again.
static inline bool gompi_objects_keeps(const struct gompi_objects *s) { return s->room > 0; }

// gompi_objects_used returns how many objects there are that are not to be used again.
static inline int gompi_objects_used(const struct gompi_objects *s) {
	int many = s->room < 0 ? GOMPI_OBJECTS_MANY : 0;
	return (int)s->crowd.live - (GOMPI_OBJECTS_SPARE - many - s->room);
}

#pragma GCC visibility pop
#endif
