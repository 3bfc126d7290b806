#include "base/table.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	FIRST_ENTRIES = 64,
	// an entry uses at least 2^REUSE_DELAY_BITS numbers before it uses a number again
	REUSE_DELAY_BITS = 3,
	// outgrown tables are trimmed once most of at least this number of objects have been removed
	MIN_TRIMMED_PEAK = 4096,
};

// Guards changes of all free lists (struct gompi_free_list), and of all tables except those in struct gompi_handles.
// These changes are rare, so one lock suffices.
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

// The empty table has two entries, because the value of a free entry must contain the index of a different entry.
struct gompi_table_entries gompi_table_empty = {.mask = 1, .entry = {{.handle = 1}, {.handle = 0}}};

static uintptr_t handle_in(struct gompi_table_entry *e) { return gompi_load(&e->handle); }
static void *object_in(struct gompi_table_entry *e) { return gompi_load(&e->object); }

// Returns true if the handle in an entry is live.
static bool is_live(struct gompi_table_entries *t, struct gompi_table_entry *e) {
	return gompi_table_entry_of(t, handle_in(e)) == e;
}

// Returns the low 32 bits of the live or last handle of an entry: its number, and the kind bits above the number.
static uint32_t last_number_of(struct gompi_table_entries *t, struct gompi_table_entry *e) {
	return (uint32_t)(is_live(t, e) ? handle_in(e) : ~handle_in(e));
}

// Returns a table with 2S entries and the content of old, which has S entries; NULL if out of memory. Each old entry
// becomes two new ones. Let n be the number of its live or last handle. The new entry with index n mod 2S keeps the
// handle, or stays free with last number n, so that its next number is n + 2S. The other new entry is free with last
// number n - S, so that its next number is n + S.
static struct gompi_table_entries *grow_entries(struct gompi_table_entries *old) {
	bool first = old == &gompi_table_empty;
	uint32_t size = first ? FIRST_ENTRIES : 2 * ((uint32_t)old->mask + 1), i;
	struct gompi_table_entries *new = malloc(sizeof *new + size * sizeof new->entry[0]);
	if (new == NULL)
		return NULL;
	new->previous = first ? NULL : old;
	new->mask = size - 1;
	for (i = 0; i < size; i++) {
		struct gompi_table_entry *e = &old->entry[i & old->mask];
		uint32_t n = first ? i : last_number_of(old, e);
		gompi_store(&new->entry[i].object, object_in(e));
		if (((n ^ i) & new->mask) != 0 || first)
			gompi_table_free_entry(&new->entry[i], first ? n - size : n - size / 2);
		else
			gompi_store(&new->entry[i].handle, is_live(old, e) ? handle_in(e) : ~(uintptr_t)n);
	}
	return new;
}

void *gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object) {
	pthread_mutex_lock(&tables_lock);
	struct gompi_table_entries *now = gompi_load(&t->entries);
	struct gompi_table_entry *e = gompi_table_entry_of(now, handle);
	while (now == &gompi_table_empty || (is_live(now, e) && handle_in(e) != handle)) {
		now = grow_entries(now);
		if (now == NULL)
			break;
		gompi_store_release(&t->entries, now); // pairs with the acquire in gompi_table_get
		e = gompi_table_entry_of(now, handle);
	}
	if (now == NULL) {
		object = NULL;
	} else if (handle_in(e) == handle) {
		object = object_in(e);
	} else {
		gompi_store_release(&e->object, object); // the entry is free, so no lookup matches it yet
		gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
		gompi_live_count_inc(&t->live_count);
	}
	pthread_mutex_unlock(&tables_lock);
	return object;
}

// Returns the pages of outgrown tables to the system. A thread that still reads such a table finds zeros, which match
// no handle except 0.
static void trim_outgrown(struct gompi_table *table) {
	enum { PAGE = 4096 };
	for (struct gompi_table_entries *t = gompi_load(&table->entries)->previous; t != NULL; t = t->previous) {
		uintptr_t from = ((uintptr_t)t->entry + PAGE - 1) & -(uintptr_t)PAGE,
			  to = (uintptr_t)&t->entry[t->mask + 1] & -(uintptr_t)PAGE;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
}

void *gompi_table_remove(struct gompi_table *t, uintptr_t handle) {
	pthread_mutex_lock(&tables_lock);
	struct gompi_table_entry *e = gompi_table_entry_of(gompi_load(&t->entries), handle);
	void *object = NULL;
	if (handle_in(e) == handle) {
		object = object_in(e);
		gompi_table_free_entry(e, (uint32_t)handle);
		if (gompi_live_count_dec_from(&t->live_count, MIN_TRIMMED_PEAK))
			trim_outgrown(t);
	}
	pthread_mutex_unlock(&tables_lock);
	return object;
}

void gompi_handles_open(struct gompi_handles *s, uint32_t kind_bits, uint32_t max_number) {
	*s = (struct gompi_handles){
		.table = {.entries = &gompi_table_empty}, .kind_bits = kind_bits, .max_number = max_number};
}

struct gompi_table_entries *gompi_handles_grow(struct gompi_handles *s) {
	struct gompi_table_entries *old = gompi_load(&s->table.entries), *t = NULL;
	if (old->mask + 1 <= s->max_number >> REUSE_DELAY_BITS)
		t = grow_entries(old);
	uint32_t *ring = t != NULL ? malloc((t->mask + 1) * sizeof *ring) : NULL;
	if (ring == NULL) {
		free(t);
		return old;
	}
	const struct gompi_handles before = *s;
	uint32_t half = ((uint32_t)t->mask + 1) / 2;
	s->free_ring = ring;
	s->free_head = s->free_tail = 0;
	s->grow_threshold = half;
	if (t->previous == NULL)
		for (uint32_t i = 0; i <= t->mask; i++)
			gompi_handles_push_free(s, t, &t->entry[i]);
	else
		for (uint32_t i = 0; i < half; i++)
			gompi_handles_push_free(s, t,
						&t->entry[(last_number_of(old, &old->entry[i]) & t->mask) ^ half]);
	for (uint32_t i = before.free_head; i != before.free_tail; i++) {
		struct gompi_table_entry *e =
			(struct gompi_table_entry *)((char *)old + before.free_ring[i & old->mask]);
		gompi_handles_push_free(s, t, gompi_table_entry_of(t, ~handle_in(e)));
	}
	free(before.free_ring);
	gompi_store_release(&s->table.entries, t); // pairs with the acquire in gompi_table_get
	return t;
}

void gompi_handles_trim(struct gompi_handles *s) {
	trim_outgrown(&s->table);
	malloc_trim(0);
}

void gompi_handles_close(struct gompi_handles *s) {
	free(s->free_ring);
	struct gompi_table_entries *t = gompi_load(&s->table.entries), *before;
	for (; t != NULL && t != &gompi_table_empty; t = before) {
		before = t->previous;
		free(t);
	}
}

void *gompi_free_list_alloc(struct gompi_free_list *s) {
	pthread_mutex_lock(&tables_lock);
	char *object = s->head;
	if (object != NULL)
		memcpy(&s->head, object + s->link_offset, sizeof s->head);
	pthread_mutex_unlock(&tables_lock);
	return object != NULL ? object : calloc(1, s->object_bytes);
}

void gompi_free_all(void *first, size_t link_offset) {
	for (void *next; first != NULL; first = next) {
		memcpy(&next, (char *)first + link_offset, sizeof next);
		free(first);
	}
}

void gompi_free_list_put(struct gompi_free_list *s, void *object) {
	pthread_mutex_lock(&tables_lock);
	memcpy((char *)object + s->link_offset, &s->head, sizeof s->head);
	s->head = object;
	pthread_mutex_unlock(&tables_lock);
}
