#include "base/table.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	FIRST_ENTRIES = 64,
	// between two uses of a number at least 2^LATE_BITS * (maximum number of entries) handles are created
	LATE_BITS = 3,
};

// Guards all tables except those of struct gompi_handles, and the struct gompi_spares. Changes to them call Go anyway,
// and are rare.
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

// Two entries, because a single entry could hold no value that belongs to another entry.
struct gompi_table_entries gompi_table_nothing = {.mask = 1, .entry = {{.handle = 1}, {.handle = 0}}};

static uintptr_t handle_in(struct gompi_table_entry *e) { return gompi_load(&e->handle); }
static void *object_in(struct gompi_table_entry *e) { return gompi_load(&e->object); }

// Returns true if the handle in an entry is live.
static bool is_live(struct gompi_table_entries *t, struct gompi_table_entry *e) {
	return gompi_table_place(t, handle_in(e)) == e;
}

// Returns the number after which the next handle of an entry continues, with the bits above it.
static uint32_t goes_on_after(struct gompi_table_entries *t, struct gompi_table_entry *e) {
	return (uint32_t)(is_live(t, e) ? handle_in(e) : ~handle_in(e));
}

// Returns a table of twice as many entries as the S of old, with the same content; NULL if out of memory. Live handles
// differ in the low bits of the new mask as they do in those of the old one. A free entry whose next handle continues
// after number n becomes two: the one to which n belongs keeps n. The other gets n - S, the preceding number, so that
// it continues with n + S, and the first one with n + 2S.
static struct gompi_table_entries *twice(struct gompi_table_entries *old) {
	bool first = old == &gompi_table_nothing;
	uint32_t size = first ? FIRST_ENTRIES : 2 * ((uint32_t)old->mask + 1), i;
	struct gompi_table_entries *new = malloc(sizeof *new + size * sizeof new->entry[0]);
	if (new == NULL)
		return NULL;
	new->before = first ? NULL : old;
	new->mask = size - 1;
	for (i = 0; i < size; i++) {
		struct gompi_table_entry *e = &old->entry[i & old->mask];
		uint32_t n = first ? i : goes_on_after(old, e);
		gompi_store(&new->entry[i].object, object_in(e));
		if (((n ^ i) & new->mask) != 0 || first)
			gompi_table_leave(&new->entry[i], first ? n - size : n - size / 2);
		else
			gompi_store(&new->entry[i].handle, is_live(old, e) ? handle_in(e) : ~(uintptr_t)n);
	}
	return new;
}

void *gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object) {
	pthread_mutex_lock(&mu);
	struct gompi_table_entries *now = gompi_load(&t->now);
	struct gompi_table_entry *e = gompi_table_place(now, handle);
	while (now == &gompi_table_nothing || (is_live(now, e) && handle_in(e) != handle)) {
		now = twice(now);
		if (now == NULL)
			break;
		gompi_store_release(&t->now, now); // pairs with the acquire in gompi_table_get
		e = gompi_table_place(now, handle);
	}
	if (now == NULL) {
		object = NULL;
	} else if (handle_in(e) == handle) {
		object = object_in(e);
	} else {
		gompi_store_release(&e->object, object); // after the free value of handle, which matches no lookup
		gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
	}
	pthread_mutex_unlock(&mu);
	return object;
}

void *gompi_table_remove(struct gompi_table *t, uintptr_t handle) {
	pthread_mutex_lock(&mu);
	struct gompi_table_entry *e = gompi_table_place(gompi_load(&t->now), handle);
	void *object = NULL;
	if (handle_in(e) == handle) {
		object = object_in(e);
		gompi_table_leave(e, (uint32_t)handle);
	}
	pthread_mutex_unlock(&mu);
	return object;
}

void gompi_handles_open(struct gompi_handles *s, uint32_t above, uint32_t numbers) {
	*s = (struct gompi_handles){.table = {&gompi_table_nothing}, .above = above, .numbers = numbers};
}

struct gompi_table_entries *gompi_handles_grow(struct gompi_handles *s) {
	struct gompi_table_entries *old = gompi_load(&s->table.now), *t = NULL;
	if (old->mask + 1 <= s->numbers >> LATE_BITS)
		t = twice(old);
	uint32_t *ring = t != NULL ? malloc((t->mask + 1) * sizeof *ring) : NULL;
	if (ring == NULL) {
		free(t);
		return old;
	}
	const struct gompi_handles before = *s;
	uint32_t half = ((uint32_t)t->mask + 1) / 2;
	s->ring = ring;
	s->first = s->next = 0;
	s->few = half;
	if (t->before == NULL)
		for (uint32_t i = 0; i <= t->mask; i++)
			gompi_handles_push(s, t, &t->entry[i]);
	else
		for (uint32_t i = 0; i < half; i++)
			gompi_handles_push(s, t, &t->entry[(goes_on_after(old, &old->entry[i]) & t->mask) ^ half]);
	for (uint32_t i = before.first; i != before.next; i++) {
		struct gompi_table_entry *e = (struct gompi_table_entry *)((char *)old + before.ring[i & old->mask]);
		gompi_handles_push(s, t, gompi_table_place(t, ~handle_in(e)));
	}
	free(before.ring);
	gompi_store_release(&s->table.now, t); // pairs with the acquire in gompi_table_get
	return t;
}

void gompi_handles_trim(struct gompi_handles *s) {
	enum { PAGE = 4096 };
	for (struct gompi_table_entries *t = gompi_load(&s->table.now)->before; t != NULL; t = t->before) {
		uintptr_t from = ((uintptr_t)t->entry + PAGE - 1) & -(uintptr_t)PAGE,
			  to = (uintptr_t)&t->entry[t->mask + 1] & -(uintptr_t)PAGE;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	malloc_trim(0);
}

void gompi_handles_close(struct gompi_handles *s) {
	free(s->ring);
	struct gompi_table_entries *t = gompi_load(&s->table.now), *before;
	for (; t != NULL && t != &gompi_table_nothing; t = before) {
		before = t->before;
		free(t);
	}
}

void *gompi_spares_take(struct gompi_spares *s) {
	pthread_mutex_lock(&mu);
	char *object = s->first;
	if (object != NULL)
		memcpy(&s->first, object + s->next, sizeof s->first);
	pthread_mutex_unlock(&mu);
	return object != NULL ? object : calloc(1, s->bytes);
}

void gompi_spares_give(struct gompi_spares *s, void *object) {
	pthread_mutex_lock(&mu);
	memcpy((char *)object + s->next, &s->first, sizeof s->first);
	s->first = object;
	pthread_mutex_unlock(&mu);
}
