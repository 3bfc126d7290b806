// An object pool manages all objects of one kind that C creates. It has their lock, their handles, and a free list of
// released objects. gompi_table_get finds an object without the lock. That is safe if no other thread can free the
// object while the caller uses it.
#ifndef GOMPI_OBJECT_POOL_H
#define GOMPI_OBJECT_POOL_H

#include "base/biased_mutex.h"
#include "base/table.h"

struct gompi_object_pool {
	struct gompi_biased_mutex lock; // guards the fields below and the objects
	struct gompi_handles handles;
	size_t object_bytes; // size of an object; on the free list, the first 8 bytes of an object are its link
	void *free_list;
	// Number of objects that the free list can still accept. While the pool is large (GOMPI_POOL_LARGE_COUNT
	// objects or more), this number is lower by GOMPI_POOL_LARGE_COUNT. It is then negative, so that released
	// objects return to the system.
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
	GOMPI_KIND_PERSISTENT = 10, // persistent requests; core/handle uses this kind for requests that stay in Go
	GOMPI_KIND_DATATYPE = 11,
	GOMPI_KIND_REQUEST = 12, // requests of messages; core/handle.Kind has neither this kind nor GOMPI_KIND_KEYVAL
	GOMPI_KIND_KEYVAL = 13,  // keyvals of kind k (enum gompi_keyval_kind) have the kind GOMPI_KIND_KEYVAL + k
};
// GOMPI_KIND_BITS: number of low bits of a handle that hold its number. GOMPI_KIND_MAX_LIVE: maximum number of live
// objects of a kind.
enum { GOMPI_KIND_BITS = 27, GOMPI_KIND_MAX_LIVE = 1 << 24 };

// GOMPI_POOL_FREE_MAX: maximum length of a free list. GOMPI_POOL_LARGE_COUNT: number of objects from which a pool is
// large.
enum { GOMPI_POOL_FREE_MAX = 64, GOMPI_POOL_LARGE_COUNT = 4096 };

// Initializes a struct gompi_object_pool for objects of the given kind and C type.
#define GOMPI_OBJECT_POOL(kind, type)                                              \
	{                                                                          \
		.handles = {.table = {&gompi_table_empty},                         \
			    .kind_bits = (uint32_t)(kind) << GOMPI_KIND_BITS,      \
			    .max_number = (1U << GOMPI_KIND_BITS) - 1},            \
		.object_bytes = sizeof(type), .free_capacity = GOMPI_POOL_FREE_MAX \
	}

#pragma GCC visibility push(hidden)

// The caller of each function below holds the lock of the pool.

// Allocates a new, zeroed object. Returns NULL if out of memory.
__attribute__((cold)) void *gompi_pool_alloc_slow(struct gompi_object_pool *s);
// Frees an object. If most objects of the pool have been freed, also returns unused memory to the system.
__attribute__((cold)) void gompi_pool_free_slow(struct gompi_object_pool *s, void *object);

// Returns an object from the free list, with its former content except in the first 8 bytes. If the free list is empty,
// returns a zeroed object, or NULL if out of memory.
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
