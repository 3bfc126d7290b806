// The parts of pending operations with requests. Their requests are in ongoing_requests.c.
#include "transport/ongoing.h"

#include <stdlib.h>

gompi_a32 gompi_ongoing_news;

struct gompi_ongoing *gompi_ongoing_of(const struct gompi_win *w, const struct gompi_operation *o) {
	if (o->ongoing == NULL || *o->ongoing != NULL)
		return o->ongoing == NULL ? NULL : *o->ongoing;
	struct gompi_ongoing *g = *o->ongoing = calloc(1, sizeof *g);
	if (g == NULL)
		return NULL;
	g->left = 1;
	g->process = -1;
	g->dynamic = w->attached != NULL;
	return g;
}

void gompi_ongoing_by_transfer(struct gompi_ongoing *g) { gompi_add(&g->left, 1); }

void gompi_ongoing_by_ring(struct gompi_ongoing *g, int process) {
	g->process = process;
	gompi_add(&g->left, 1);
}

void gompi_ongoing_by_stream(struct gompi_ongoing *g, struct gompi_stream *s) {
	g->remote = s;
	gompi_add(&g->left, 1);
}

void gompi_ongoing_part_over(struct gompi_ongoing *g, const struct gompi_reason *why) {
	uint32_t none = 0;
	if (why != NULL && gompi_change_once(&g->class, &none, (uint32_t)why->class))
		g->reason = *why;
	// A total operation, hence a release: the data has been stored before; pairs with the acquire in has_ended.
	if (gompi_sub_total(&g->left, 1) == 1)
		gompi_store_total(&gompi_ongoing_news, 1);
}
