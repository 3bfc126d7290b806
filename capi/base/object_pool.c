#include "base/object_pool.h"

#include <stdlib.h>

// Adapts free_capacity after a change of live_count.peak, which decides whether the pool is large.
static void update_free_capacity(struct gompi_object_pool *s, int64_t peak_before) {
	bool before = peak_before >= GOMPI_POOL_LARGE_COUNT, now = s->live_count.peak >= GOMPI_POOL_LARGE_COUNT;
	s->free_capacity += (before - now) * GOMPI_POOL_LARGE_COUNT;
}

void *gompi_pool_alloc_slow(struct gompi_object_pool *s) {
	void *object = calloc(1, s->object_bytes);
	int64_t peak = s->live_count.peak;
	if (object != NULL) {
		gompi_live_count_inc(&s->live_count);
		update_free_capacity(s, peak);
	}
	return object;
}

// Frees an object. If few objects are left, the pool is no longer large, and later releases use the free list again.
void gompi_pool_free_slow(struct gompi_object_pool *s, void *object) {
	free(object);
	s->free_capacity++;
	int64_t peak = s->live_count.peak;
	bool shrunk = s->live_count.live - 1 <= peak / 8;
	if (gompi_live_count_dec(&s->live_count))
		gompi_handles_trim(&s->handles);
	if (shrunk)
		s->live_count.peak = s->live_count.live;
	update_free_capacity(s, peak);
}
