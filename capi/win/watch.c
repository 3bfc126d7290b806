#include "win/watch.h"

#include <stdlib.h>

void gompi_watch(struct gompi_win *w, const struct gompi_watch *watch) {
	w->watch = watch;
	for (uint32_t i = 0; i < w->n; i++)
		w->targets[i].reach = w->targets[i].reach8 = 0;
	free(w->parts); // what is mapped in part goes its target's transport as a whole
	w->parts = NULL;
	gompi_or(&w->flush_more, FLUSH_WATCHED);
}
