#include "base/objects.h"

#include <malloc.h>
#include <stdlib.h>

enum { WORTH = 65536 }; // objects whose memory is given back once seven eighths of them have gone

void *gompi_objects_more(struct gompi_objects *s) {
	void *object = calloc(1, s->bytes);
	if (object != NULL && ++s->live > s->most)
		s->most = s->live;
	return object;
}

void gompi_objects_less(struct gompi_objects *s, void *object) {
	free(object);
	if (--s->live > s->most / 8)
		return;
	if (s->most >= WORTH) {
		gompi_handles_trim(&s->handles);
		malloc_trim(0);
	}
	s->most = s->live;
}
