// Objects of one kind that C creates: the lock of the kind, their handles, and a free list of released objects. Readers
// that access an object only during its lifetime find it without the lock, by gompi_table_get.
#ifndef GOMPI_OBJECT_POOL_H
#define GOMPI_OBJECT_POOL_H

#include "base/biased_mutex.h"
#include "base/table.h"

struct gompi_object_pool {
	struct gompi_biased_mutex lock; // guards the fields below and the objects
	struct gompi_handles handles;
	size_t object_bytes; // size of an object; its first 8 bytes link the free list
	void *free_list;
	// free capacity of the free list; lower by GOMPI_POOL_LARGE_COUNT while there are many objects
	int free_capacity;
	struct gompi_live_count live_count; // counts all objects, including those on the free list
};

// The kinds whose handles C creates. core/gen generates core/handle.Kind from these and GOMPI_ON_.
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
enum { GOMPI_KIND_BITS = 27, GOMPI_KIND_MAX_LIVE = 1 << 24 };

enum { GOMPI_POOL_FREE_MAX = 64, GOMPI_POOL_LARGE_COUNT = 4096 };

// Initializer of a struct gompi_object_pool for a kind with objects of a type.
#define GOMPI_OBJECT_POOL(kind, type)                                              \
	{                                                                          \
		.handles = {.table = {&gompi_table_empty},                         \
			    .kind_bits = (uint32_t)(kind) << GOMPI_KIND_BITS,      \
			    .max_number = (1U << GOMPI_KIND_BITS) - 1},            \
		.object_bytes = sizeof(type), .free_capacity = GOMPI_POOL_FREE_MAX \
	}

#pragma GCC visibility push(hidden)

// The caller of these functions holds the lock.

// Allocates a new, zeroed object. Returns NULL if out of memory.
__attribute__((cold)) void *gompi_pool_alloc_slow(struct gompi_object_pool *s);
// Frees an object, and returns the memory of its kind to the system if most objects have been freed.
__attribute__((cold)) void gompi_pool_free_slow(struct gompi_object_pool *s, void *object);

// Returns an object from the free list, which keeps its former content except for the first 8 bytes, or a new zeroed
// object. Returns NULL if out of memory.
static inline void *gompi_pool_alloc(struct gompi_object_pool *s) {
	void **object = s->free_list;
	if (__builtin_expect(object == NULL, 0))
		return gompi_pool_alloc_slow(s);
	s->free_list = *object;
	s->free_capacity++;
	return object;
}

// Releases an object to the free list, or to the system if the list is full.
static inline void gompi_pool_free(struct gompi_object_pool *s, void *object) {
	if (__builtin_expect(--s->free_capacity < 0, 0)) {
		gompi_pool_free_slow(s, object);
		return;
	}
	*(void **)object = s->free_list;
	s->free_list = object;
}

// Returns true if the free list has capacity for another object.
static inline bool gompi_pool_can_cache(const struct gompi_object_pool *s) { return s->free_capacity > 0; }

// Returns the number of objects in use, that is, not on the free list.
static inline int gompi_pool_used_count(const struct gompi_object_pool *s) {
	int large_adjust = s->free_capacity < 0 ? GOMPI_POOL_LARGE_COUNT : 0;
	return (int)s->live_count.live - (GOMPI_POOL_FREE_MAX - large_adjust - s->free_capacity);
}

#pragma GCC visibility pop
#endif
