// The slow path of operations. Everything that the fast paths of the communication calls do not handle is checked in
// check.c and executed by move.c and elements.c.
#include "rma/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datatype/label.h"
#include "transport/rma_request.h"
#include "transport/transport.h"
#include "win/counts.h"
#include "win/epoch.h"

// Appends the arguments of a failed call to its error text.
static __attribute__((cold, noinline)) void append_operation(const struct gompi_operation *r,
							     struct gompi_error_status *v) {
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

int gompi_rma_slow_path(struct gompi_operation *r) {
	static const char *const calls[][2] = {
		[RMA_PUT] = {"MPI_Put", "MPI_Rput"},
		[RMA_GET] = {"MPI_Get", "MPI_Rget"},
		[RMA_ACCUMULATE] = {"MPI_Accumulate", "MPI_Raccumulate"},
		[RMA_GET_ACCUMULATE] = {"MPI_Get_accumulate", "MPI_Rget_accumulate"},
		[RMA_FETCH_AND_OP] = {"MPI_Fetch_and_op"},
		[RMA_COMPARE_AND_SWAP] = {"MPI_Compare_and_swap"},
	};
	struct gompi_error_status err;
	struct gompi_checked_op c;
	struct gompi_rma_request *rma_request = NULL;
	int rc = MPI_SUCCESS, path = MPIX_GOMPIRMA_DIRECT;
	r->call = calls[r->kind][r->returns_request], r->rma_request = NULL, r->path = &path;
	gompi_checked_op_init(&c, r, &err);
	if (c.w == NULL)
		return gompi_not_a_window(r->win, r->call);
	int class = r->returns_request && r->request == NULL ? gompi_set_error(&err, MPI_ERR_ARG, "request is NULL")
							     : gompi_rma_check_args(&c);
	if (class == MPI_SUCCESS)
		class = gompi_epoch_enter_call(c.w, EPOCH_OPERATION, r->target, &err);
	bool is_proc_null = r->target == MPI_PROC_NULL;
	if (class == MPI_SUCCESS && !is_proc_null) {
		if (r->returns_request && !c.is_mapped) // a part of the operation may stay pending
			r->rma_request = &rma_request;
		rc = gompi_is_accumulate(r) ? gompi_execute_accumulate(&c) : gompi_execute_move(&c);
	}
	if (class == MPI_SUCCESS && r->returns_request)
		while ((rc = gompi_rma_request_finish(rma_request, c.w, r, rc)) == GOMPI_RMA_REQUEST_WAIT)
			rc = gompi_flush_local(c.w, r->target, r->call);
	if (class == MPI_SUCCESS && rc == MPI_SUCCESS) {
		bool is_empty = is_proc_null || (gompi_is_accumulate(r) ? c.elements : c.bytes) == 0;
		gompi_count_operation(c.w, r->kind, is_empty ? MPIX_GOMPIRMA_NOTHING : path, c.target.size);
	}
	for (int i = 0; i < 3; i++)
		free(c.byte_types[i]);
	if (class != MPI_SUCCESS) {
		append_operation(r, &err);
		return gompi_win_raise(r->win, r->call, &err);
	}
	return rc == MPI_SUCCESS ? rc : gompi_rma_raise(c.w, r, rc);
}

int gompi_rma_raise(struct gompi_win *w, const struct gompi_operation *r, int class) {
	if (class == MPI_ERR_NO_MEM)
		return gompi_win_error(r->win, r->call, class, "out of memory for the internal data of the operation");
	return gompi_win_raise_class(w, r->call, class);
}
