#include "win/counts.h"

#include <stdlib.h>

struct gompi_win_counts gompi_all_win_counts;
gompi_a32 gompi_counting;

static void add_count(struct MPIX_Gompirma_count *c, uint64_t bytes) {
	gompi_add((gompi_a64 *)&c->calls, 1);
	gompi_add((gompi_a64 *)&c->bytes, bytes);
}

void gompi_count_slow(struct gompi_win *w, enum gompi_rma_kind kind, int path, uint64_t bytes) {
	struct gompi_win_counts *own = gompi_load_acquire(&w->tool_counts); // pairs with gompi_win_counts_acquire
	add_count(&gompi_all_win_counts.count[kind][path], bytes);
	if (own != NULL)
		add_count(&own->count[kind][path], bytes);
	if (w->counts != NULL)
		add_count(&w->counts[kind][path], bytes);
}

struct gompi_win_counts *gompi_win_counts_acquire(struct gompi_win *w) {
	struct gompi_win_counts *c = gompi_load(&w->tool_counts);
	if (c == NULL) {
		if ((c = calloc(1, sizeof *c)) == NULL)
			return NULL;
		gompi_store(&c->references, 1); // the window's
		gompi_store_release(&w->tool_counts, c);
	}
	gompi_add(&c->references, 1);
	return c;
}

void gompi_win_counts_release(struct gompi_win_counts *c) {
	if (c != NULL && gompi_sub_seq_cst(&c->references, 1) == 1)
		free(c);
}
