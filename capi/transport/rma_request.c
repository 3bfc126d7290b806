// Counts the pending parts (rma_request.h) of operations with requests. The requests are in rma_request_completion.c.
#include "transport/rma_request.h"

#include <stdlib.h>

gompi_a32 gompi_rma_request_event;

struct gompi_rma_request *gompi_rma_request_get(const struct gompi_win *w, const struct gompi_operation *o) {
	if (o->rma_request == NULL || *o->rma_request != NULL)
		return o->rma_request == NULL ? NULL : *o->rma_request;
	struct gompi_rma_request *g = *o->rma_request = calloc(1, sizeof *g);
	if (g == NULL)
		return NULL;
	g->pending_parts = 1;
	g->ring_process = -1;
	g->is_dynamic = w->attached != NULL;
	return g;
}

void gompi_rma_request_add_rdma(struct gompi_rma_request *g) { gompi_add(&g->pending_parts, 1); }

void gompi_rma_request_add_ring(struct gompi_rma_request *g, int process) {
	g->ring_process = process;
	gompi_add(&g->pending_parts, 1);
}

void gompi_rma_request_add_stream(struct gompi_rma_request *g, struct gompi_stream *s) {
	g->stream = s;
	gompi_add(&g->pending_parts, 1);
}

void gompi_rma_request_end_part(struct gompi_rma_request *g, const struct gompi_error_detail *detail) {
	uint32_t none = 0;
	if (detail != NULL && gompi_cas_strong(&g->error_class, &none, (uint32_t)detail->class))
		g->error_detail = *detail;
	// seq_cst, which includes a release: orders the stores of the data before the end of the part. Pairs with the
	// acquire in rma_request_ended.
	if (gompi_sub_seq_cst(&g->pending_parts, 1) == 1)
		gompi_store_seq_cst(&gompi_rma_request_event, 1);
}
