#include "base/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ENTRIES = 64 };

// Of all tables and spares: what changes them calls Go besides, and is rare.
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

// Two, since a lone entry has no handle that belongs to another.
struct gompi_table_entries gompi_table_nothing = {.mask = 1, .entry = {{.handle = 1}, {.handle = 0}}};

static uintptr_t handle_in(struct gompi_table_entry *e) { return gompi_load(&e->handle); }
static void *object_in(struct gompi_table_entry *e) { return gompi_load(&e->object); }

// Makes an entry one that nothing finds: the complement of what belongs there belongs to another. What reads the entry
// just now gets the old object.
static void leave_locked(struct gompi_table_entry *e, uintptr_t belongs) { gompi_store(&e->handle, ~belongs); }

static void fill_locked(struct gompi_table_entry *e, uintptr_t handle, void *object) {
	leave_locked(e, handle);
	gompi_store_release(&e->object, object); // after the handle that nothing finds
	gompi_store_release(&e->handle, handle); // pairs with the acquire in gompi_table_get
}

// Returns true if an entry has a handle that can be found.
static bool live_locked(struct gompi_table_entries *t, struct gompi_table_entry *e) {
	return gompi_table_place(t, handle_in(e)) == e;
}

// Returns twice as many entries with the same in them, which differ in one more bit as they do in fewer; NULL: there is
// no memory.
static struct gompi_table_entries *twice_locked(struct gompi_table_entries *old) {
	uintptr_t size = old == &gompi_table_nothing ? FIRST_ENTRIES : 2 * (old->mask + 1), i;
	struct gompi_table_entries *new = malloc(sizeof *new + size * sizeof new->entry[0]);
	if (new == NULL)
		return NULL;
	new->before = old;
	new->mask = size - 1;
	for (i = 0; i < size; i++) {
		gompi_store(&new->entry[i].object, NULL);
		leave_locked(&new->entry[i], i);
	}
	for (i = 0; i <= old->mask; i++) {
		struct gompi_table_entry *e = &old->entry[i];
		if (live_locked(old, e))
			fill_locked(gompi_table_place(new, handle_in(e)), handle_in(e), object_in(e));
	}
	return new;
}

bool gompi_table_put(struct gompi_table *t, uintptr_t handle, void *object) {
	pthread_mutex_lock(&mu);
	struct gompi_table_entries *now = gompi_load(&t->now);
	struct gompi_table_entry *e = gompi_table_place(now, handle);
	while (now == &gompi_table_nothing || (live_locked(now, e) && handle_in(e) != handle)) {
		now = twice_locked(now);
		if (now == NULL)
			break;
		gompi_store_release(&t->now, now); // pairs with the acquire in gompi_table_get
		e = gompi_table_place(now, handle);
	}
	if (now != NULL)
		fill_locked(e, handle, object);
	pthread_mutex_unlock(&mu);
	return now != NULL;
}

void *gompi_table_remove(struct gompi_table *t, uintptr_t handle) {
	pthread_mutex_lock(&mu);
	struct gompi_table_entry *e = gompi_table_place(gompi_load(&t->now), handle);
	void *object = NULL;
	if (handle_in(e) == handle) {
		object = object_in(e);
		leave_locked(e, handle);
	}
	pthread_mutex_unlock(&mu);
	return object;
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
