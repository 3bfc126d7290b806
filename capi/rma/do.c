// The slow path of operations. Everything that the fast paths of the communication calls do not handle is checked in
// check.c and executed by move.c and elements.c.
#include "rma/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datatype/label.h"
#include "transport/ongoing.h"
#include "transport/transport.h"
#include "win/counts.h"
#include "win/epoch.h"

// Appends the arguments of a failed call to its error text.
static __attribute__((cold, noinline)) void append_operation(const struct gompi_operation *r, struct gompi_verdict *v) {
	const bool get = r->kind == RMA_GET, update = gompi_is_accumulate(r) && r->kind != RMA_COMPARE_AND_SWAP;
	char label[GOMPI_LABEL], address[20];
	size_t n = strlen(v->text);
	int more = snprintf(v->text + n, sizeof v->text - n, " (origin_addr %s, origin_count %lld, origin_datatype %s",
			    gompi_address_label(get ? r->result : r->origin, address),
			    (long long)(get ? r->result_count : r->origin_count),
			    gompi_type_label(get ? r->result_type : r->origin_type, label));
	n = n + (size_t)more < sizeof v->text ? n + (size_t)more : sizeof v->text - 1;
	more = snprintf(v->text + n, sizeof v->text - n,
			", target_rank %d, target_disp %lld, target_count %lld, target_datatype %s", r->target,
			(long long)r->disp, (long long)r->target_count, gompi_type_label(r->target_type, label));
	n = n + (size_t)more < sizeof v->text ? n + (size_t)more : sizeof v->text - 1;
	snprintf(v->text + n, sizeof v->text - n, "%s%s)", update ? ", op " : "",
		 update ? gompi_op_label(r->op, label) : "");
}

int gompi_rma_do(const struct gompi_operation *r) {
	struct gompi_verdict verdict;
	struct gompi_checked c;
	gompi_checked_begin(&c, r, &verdict);
	if (c.w == NULL)
		return gompi_not_a_window(r->win, r->call);
	int rc = MPI_SUCCESS;
	int class = r->requests && r->request == NULL ? gompi_error(&verdict, MPI_ERR_ARG, "request is NULL")
						      : gompi_rma_check(&c);
	if (class == MPI_SUCCESS)
		class = gompi_epoch(c.w, EPOCH_OPERATION, r->target, &verdict);
	bool refused = class != MPI_SUCCESS, nobody = r->target == MPI_PROC_NULL;
	bool stays = r->requests && !refused && !nobody && !c.mapped; // a part of it may stay pending
	struct gompi_operation mine;
	struct gompi_ongoing *ongoing = NULL;
	int way = MPIX_GOMPIRMA_DIRECT;
	if (stays || c.w->counts != NULL) {
		mine = *r;
		c.r = &mine;
		mine.ongoing = stays ? &ongoing : NULL;
		mine.way = &way;
	}
	if (!refused && !nobody)
		rc = gompi_is_accumulate(r) ? gompi_do_accumulate(&c) : gompi_do_move(&c);
	if (r->requests && !refused)
		while ((rc = gompi_ongoing_sent(ongoing, c.w, r, rc)) == GOMPI_ONGOING_WAITS)
			rc = gompi_flush_local(c.w, r->target, r->call);
	if (__builtin_expect(c.w->counts != NULL, 0) && !refused && rc == MPI_SUCCESS) {
		bool nothing = nobody || (gompi_is_accumulate(r) ? c.elements : c.bytes) == 0;
		gompi_count(c.w, r->kind, nothing ? MPIX_GOMPIRMA_NOTHING : way, c.target.size);
	}
	for (int i = 0; i < 3; i++)
		free(c.bytewise[i]);
	if (refused) {
		append_operation(r, &verdict);
		return gompi_win_refuse(r->win, r->call, &verdict);
	}
	if (rc == MPI_ERR_NO_MEM)
		return gompi_win_error(r->win, r->call, rc, "out of memory for a contiguous copy of the buffer");
	if (rc != MPI_SUCCESS)
		return gompi_wait_error(c.w, r->call, rc);
	return MPI_SUCCESS;
}
