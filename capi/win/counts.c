#include "win/counts.h"

struct gompi_win_counts gompi_all_win_counts;
gompi_a32 gompi_counting;

static void add_count(struct MPIX_Gompirma_count *c, uint64_t bytes) {
	gompi_add((gompi_a64 *)&c->calls, 1);
	gompi_add((gompi_a64 *)&c->bytes, bytes);
}

void gompi_count_slow(struct gompi_win *w, enum gompi_rma_kind kind, int path, uint64_t bytes) {
	// pairs with gompi_tool_counts_acquire
	struct gompi_win_counts *own = (struct gompi_win_counts *)gompi_load_acquire(&w->tool_counts);
	add_count(&gompi_all_win_counts.count[kind][path], bytes);
	if (own != NULL)
		add_count(&own->count[kind][path], bytes);
	if (w->counts != NULL)
		add_count(&w->counts[kind][path], bytes);
}
