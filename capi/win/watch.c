#include "win/watch.h"

#include "base/sparse.h"

void gompi_watch(struct gompi_win *w, const struct gompi_watch *watch) {
	w->watch = watch;
	for (int i = 0; i < w->local_n; i++) { // the others have none
		struct gompi_target *t = &w->targets[gompi_win_local(w, i)];
		t->reach = t->reach8 = 0;
	}
	// what is mapped in part goes its target's transport as a whole
	gompi_sparse_give(w->parts, sizeof *w->parts * w->n);
	w->parts = NULL;
	gompi_or(&w->flush_more, FLUSH_WATCHED);
}
