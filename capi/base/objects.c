#include "base/objects.h"

#include <stdlib.h>

void *gompi_objects_more(struct gompi_objects *s) {
	void *object = calloc(1, s->bytes);
	if (object != NULL)
		gompi_crowd_more(&s->crowd);
	return object;
}

// When most have gone there are no longer many, and what comes after is kept again.
void gompi_objects_less(struct gompi_objects *s, void *object) {
	free(object);
	bool most_gone = s->crowd.live - 1 <= s->crowd.most / 8;
	if (gompi_crowd_less(&s->crowd))
		gompi_handles_trim(&s->handles);
	if (most_gone)
		s->crowd.most = s->crowd.live;
}
