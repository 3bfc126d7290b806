#include "base/objects.h"

#include <stdlib.h>

// Adapts the capacity of the free list after crowd.most has changed.
static void set_room(struct gompi_objects *s, int64_t most_before) {
	bool before = most_before >= GOMPI_OBJECTS_MANY, now = s->crowd.most >= GOMPI_OBJECTS_MANY;
	s->room += (before - now) * GOMPI_OBJECTS_MANY;
}

void *gompi_objects_more(struct gompi_objects *s) {
	void *object = calloc(1, s->bytes);
	int64_t most = s->crowd.most;
	if (object != NULL) {
		gompi_crowd_more(&s->crowd);
		set_room(s, most);
	}
	return object;
}

// Frees an object. If few objects are left, the kind no longer counts as large, and later releases use the free list
// again.
void gompi_objects_less(struct gompi_objects *s, void *object) {
	free(object);
	s->room++;
	int64_t most = s->crowd.most;
	bool most_gone = s->crowd.live - 1 <= most / 8;
	if (gompi_crowd_less(&s->crowd))
		gompi_handles_trim(&s->handles);
	if (most_gone)
		s->crowd.most = s->crowd.live;
	set_room(s, most);
}
