#include "file/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "file/datarep.h"
#include "file/execute.h"
#include "file/position.h"
#include "file/queue.h"
#include "file/view.h"
#include "message/call.h"
#include "message/completion.h"
#include "message/z_calls.h"

// Checks the arguments that do not depend on other processes. Fills in d, and stores the number of accessed etypes in
// *etypes. Returns MPI_SUCCESS or the class in v.
static int check_access(const struct gompi_file_access *a, struct gompi_file *f, struct gompi_file_transfer_desc *d,
			int64_t *etypes, struct gompi_error_status *v) {
	*etypes = 0;
	if (a->write && (f->amode & MPI_MODE_RDONLY))
		return gompi_set_error(v, MPI_ERR_READ_ONLY,
				       "the file has been opened with MPI_MODE_RDONLY; open it with MPI_MODE_RDWR or "
				       "MPI_MODE_WRONLY to write");
	if (!a->write && (f->amode & MPI_MODE_WRONLY))
		return gompi_set_error(v, MPI_ERR_ACCESS,
				       "the file has been opened with MPI_MODE_WRONLY; open it with MPI_MODE_RDWR or "
				       "MPI_MODE_RDONLY to read");
	if ((f->amode & MPI_MODE_SEQUENTIAL) && a->pointer != GOMPI_FILE_SHARED)
		return gompi_set_error(v, MPI_ERR_UNSUPPORTED_OPERATION,
				       "the file has been opened with MPI_MODE_SEQUENTIAL, which permits only calls "
				       "with the shared file pointer");
	if (a->pointer == GOMPI_FILE_EXPLICIT && a->offset < 0)
		return gompi_set_error(v, MPI_ERR_ARG, "offset is %lld; it must not be negative", (long long)a->offset);
	if (gompi_buffer_check(&d->b, a->buf, a->count, a->datatype, false, v) != MPI_SUCCESS)
		return v->class;
	int64_t bytes = d->b.size;
	if (f->view.datarep != NULL && gompi_datarep_file_bytes(f, a->datatype, a->count, &bytes, v) != MPI_SUCCESS)
		return v->class;
	if (bytes > 0 && (f->view.etype_bytes == 0 || f->view.tile->size == 0))
		return gompi_set_error(v, MPI_ERR_IO,
				       "the call accesses %lld bytes, but the file view contains no data: the size of "
				       "its etype or filetype is 0",
				       (long long)bytes);
	if (bytes > 0 && bytes % f->view.etype_bytes != 0)
		return gompi_set_error(v, MPI_ERR_IO,
				       "the call accesses %lld bytes, which is not a multiple of the size of the etype "
				       "of the file view (%lld bytes)",
				       (long long)bytes, (long long)f->view.etype_bytes);
	*etypes = bytes == 0 ? 0 : bytes / f->view.etype_bytes;
	if (a->pointer == GOMPI_FILE_EXPLICIT &&
	    gompi_file_view_position(&f->view, a->offset, bytes, &d->pos, v) != MPI_SUCCESS)
		return v->class;
	d->bytes = bytes;
	return MPI_SUCCESS;
}

// Checks an access, determines its position, and advances the file pointer that it uses. Returns true if the access
// must be executed: if its checks have passed, or if it is collective. A collective access is executed even after an
// error, because the other processes wait for this process.
static bool prepare(const struct gompi_file_access *a, bool is_blocking, struct gompi_file *f,
		    struct gompi_file_transfer_desc *d) {
	struct gompi_error_status *v = &d->error;
	int64_t etypes = 0, first = 0;
	*d = (struct gompi_file_transfer_desc){.f = f,
					       .call = a->call,
					       .write = a->write,
					       .collective = a->collective,
					       .datatype = a->datatype,
					       .count = a->count,
					       .buf = a->buf};
	v->class = MPI_SUCCESS;
	if (a->collective && (is_blocking || a->pointer == GOMPI_FILE_SHARED || f->split.executed != NULL))
		gompi_file_await_collectives(f, a->call);
	if (f->split.begun != NULL && a->collective)
		gompi_file_split_active_error(f, v);
	else
		check_access(a, f, d, &etypes, v);
	bool is_valid = v->class == MPI_SUCCESS;
	if (!is_valid)
		etypes = d->bytes = 0;
	if (a->pointer == GOMPI_FILE_SHARED && a->collective) {
		struct gompi_error_status shared = {.class = MPI_SUCCESS};
		gompi_file_shared_ordered(f, etypes, &first, &shared);
		if (shared.class != MPI_SUCCESS && is_valid)
			*v = shared;
	} else if (is_valid && a->pointer == GOMPI_FILE_SHARED) {
		gompi_file_shared_fetch_add(f, etypes, &first, v);
	} else if (is_valid && a->pointer == GOMPI_FILE_INDIVIDUAL) {
		first = gompi_add(&f->position, (uint64_t)etypes);
	}
	if (v->class == MPI_SUCCESS && a->pointer != GOMPI_FILE_EXPLICIT &&
	    gompi_file_view_position(&f->view, first, d->bytes, &d->pos, v) != MPI_SUCCESS) {
		// Moves the file pointer back, except after a collective access with the shared file pointer, which has
		// advanced for all processes.
		struct gompi_error_status ignored;
		if (a->pointer == GOMPI_FILE_INDIVIDUAL)
			gompi_sub(&f->position, (uint64_t)etypes);
		else if (!a->collective)
			gompi_file_shared_fetch_add(f, -etypes, &first, &ignored);
	}
	if (v->class != MPI_SUCCESS)
		d->bytes = 0;
	return v->class == MPI_SUCCESS || a->collective;
}

int gompi_file_run(const struct gompi_file_access *a, MPI_Status *status) {
	struct gompi_file *f = gompi_file_get(a->fh);
	struct gompi_file_transfer_desc d;
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	if (!prepare(a, true, f, &d))
		return gompi_file_raise(a->fh, a->call, &d.error);
	gompi_file_execute(&d);
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, d.done_bytes, false);
	return d.error.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(a->fh, a->call, &d.error);
}

// Starts a prepared access and stores its request. If the arguments are invalid, raises the error and stores no
// request; a collective access then starts nevertheless, because the other processes wait for this process. Returns
// the value that the MPI call must return.
static int start_prepared(const struct gompi_file_access *a, const struct gompi_file_transfer_desc *d,
			  MPI_Request *request) {
	if (d->error.class == MPI_SUCCESS)
		return gompi_file_enqueue(d, request);
	MPI_Request unused;
	if (a->collective && gompi_file_enqueue(d, &unused) == MPI_SUCCESS)
		gompi_request_free(&unused);
	return gompi_file_raise(a->fh, a->call, &d->error);
}

int gompi_file_start(const struct gompi_file_access *a, MPI_Request *request) {
	struct gompi_file *f = gompi_file_get(a->fh);
	struct gompi_file_transfer_desc d;
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	if (request == NULL && !a->collective) {
		gompi_set_error(&d.error, MPI_ERR_ARG, "request is NULL");
		return gompi_file_raise(a->fh, a->call, &d.error);
	}
	prepare(a, false, f, &d);
	if (request == NULL) { // a collective call: the other processes wait for this process
		gompi_set_error(&d.error, MPI_ERR_ARG, "request is NULL");
		d.bytes = 0;
	}
	return start_prepared(a, &d, request);
}

int gompi_file_begin(const struct gompi_file_access *a) {
	struct gompi_file *f = gompi_file_get(a->fh);
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	struct gompi_file_transfer_desc d;
	prepare(a, false, f, &d);
	if (f->split.begun != NULL)
		return gompi_file_raise(a->fh, a->call, &d.error);
	const bool is_valid = d.error.class == MPI_SUCCESS;
	f->split.executed = malloc(sizeof d);
	if (f->split.executed != NULL && gompi_file_execute_short(&d)) {
		*f->split.executed = d;
		f->split.is_agreed = false;
		f->split.begun = a->call;
		return MPI_SUCCESS;
	}
	free(f->split.executed);
	f->split.executed = NULL;
	int rc = start_prepared(a, &d, &f->split.request);
	if (is_valid && rc == MPI_SUCCESS)
		f->split.begun = a->call;
	return rc;
}

int gompi_file_end(const char *call, const char *begin, MPI_File fh, MPI_Status *status) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (f->split.begun == NULL || strcmp(f->split.begun, begin) != 0) {
		gompi_set_error(&v, MPI_ERR_OTHER, "the file has no active split collective operation of %s%s%s", begin,
				f->split.begun == NULL ? "" : ", but one of ",
				f->split.begun == NULL ? "" : f->split.begun);
		return gompi_file_raise(fh, call, &v);
	}
	f->split.begun = NULL;
	struct gompi_file_transfer_desc *executed = f->split.executed;
	if (executed != NULL) {
		gompi_file_await_collectives(f, call);
		f->split.executed = NULL;
		v = executed->error;
		gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, executed->done_bytes, false);
		free(executed);
		return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(fh, call, &v);
	}
	struct gompi_request *r;
	gompi_classify_handle(f->split.request, &r);
	int class = gompi_request_wait(r, call);
	return class == MPI_SUCCESS ? gompi_end_with_status(call, r, &f->split.request, status)
				    : gompi_request_raise_failed(call, class, r->comm);
}
