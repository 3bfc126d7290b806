#define _GNU_SOURCE // F_OFD_SETLKW
#include "file/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/status.h"
#include "file/transfer.h"
#include "message/call.h"
#include "message/z_calls.h"

// Checks the arguments that do not depend on other processes. Fills in d. Returns MPI_SUCCESS or the class in v.
static int check_access(const struct gompi_file_access *a, struct gompi_file *f, struct gompi_file_transfer_desc *d,
			int64_t *etypes, struct gompi_error_status *v) {
	*etypes = 0;
	if (a->write && (f->amode & MPI_MODE_RDONLY))
		return gompi_set_error(
			v, MPI_ERR_READ_ONLY,
			"file \"%s\" has been opened with MPI_MODE_RDONLY; open it with MPI_MODE_RDWR or "
			"MPI_MODE_WRONLY to write",
			f->name);
	if (!a->write && (f->amode & MPI_MODE_WRONLY))
		return gompi_set_error(
			v, MPI_ERR_ACCESS,
			"file \"%s\" has been opened with MPI_MODE_WRONLY; open it with MPI_MODE_RDWR or "
			"MPI_MODE_RDONLY to read",
			f->name);
	if ((f->amode & MPI_MODE_SEQUENTIAL) && a->pointer != GOMPI_FILE_SHARED)
		return gompi_set_error(v, MPI_ERR_UNSUPPORTED_OPERATION,
				       "file \"%s\" has been opened with MPI_MODE_SEQUENTIAL, which permits only calls "
				       "with the shared file pointer",
				       f->name);
	if (a->pointer == GOMPI_FILE_EXPLICIT && a->offset < 0)
		return gompi_set_error(v, MPI_ERR_ARG, "offset is %lld; it must not be negative", (long long)a->offset);
	if (gompi_buffer_check(&d->b, a->buf, a->count, a->datatype, false, v) != MPI_SUCCESS)
		return v->class;
	int64_t bytes = d->b.size, end;
	if (f->view.datarep != NULL && gompi_datarep_file_bytes(f, a->datatype, a->count, &bytes, v) != MPI_SUCCESS)
		return v->class;
	if (bytes > 0 && (f->view.etype_bytes == 0 || f->view.tile->size == 0))
		return gompi_set_error(v, MPI_ERR_IO,
				       "the view of file \"%s\" shows no bytes, but %lld bytes are accessed", f->name,
				       (long long)bytes);
	if (bytes > 0 && bytes % f->view.etype_bytes != 0)
		return gompi_set_error(
			v, MPI_ERR_IO,
			"%lld bytes are accessed, which is no multiple of the %lld bytes of the view's etype",
			(long long)bytes, (long long)f->view.etype_bytes);
	*etypes = bytes == 0 ? 0 : bytes / f->view.etype_bytes;
	if (a->pointer == GOMPI_FILE_EXPLICIT && (__builtin_mul_overflow(a->offset, f->view.etype_bytes, &d->pos) ||
						  __builtin_add_overflow(d->pos, bytes, &end)))
		return gompi_set_error(v, MPI_ERR_ARG, "offset %lld with etypes of %lld bytes exceeds 64 bits",
				       (long long)a->offset, (long long)f->view.etype_bytes);
	d->bytes = bytes;
	return MPI_SUCCESS;
}

// Checks an access and determines its position. Returns true if it is to be executed: its checks have passed, or it is
// collective, so that the other processes expect this one.
static bool prepare(const struct gompi_file_access *a, struct gompi_file *f, struct gompi_file_transfer_desc *d) {
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
	if (f->split.begun != NULL && a->collective)
		gompi_set_error(v, MPI_ERR_OTHER,
				"%s has begun a split collective operation on the file, which has not been ended",
				f->split.begun);
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
	if (v->class != MPI_SUCCESS)
		d->bytes = 0;
	else if (a->pointer != GOMPI_FILE_EXPLICIT)
		d->pos = first * f->view.etype_bytes;
	return v->class == MPI_SUCCESS || a->collective;
}

// Locks or unlocks the range of the file that an access touches, against other processes, in atomic mode. Blocks.
static int lock_range(const struct gompi_file_transfer_desc *d, int type, struct gompi_error_status *v) {
	int64_t first = gompi_file_offset(&d->f->view, d->pos);
	struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = first};
	lock.l_len = gompi_file_offset(&d->f->view, d->pos + d->bytes - 1) + 1 - first;
	while (fcntl(d->f->fd, F_OFD_SETLKW, &lock) != 0)
		if (errno != EINTR)
			return gompi_file_errno(v, errno, d->f->name,
						"cannot lock %lld bytes at offset %lld for atomic mode",
						(long long)lock.l_len, (long long)first);
	return MPI_SUCCESS;
}

static void transfer(struct gompi_file_transfer_desc *d) {
	struct gompi_file *f = d->f;
	bool locks = f->is_atomic && d->bytes > 0;
	struct gompi_error_status *v = &d->error;
	if (locks) {
		gompi_mutex_lock(&f->atomic_mutex);
		if (lock_range(d, d->write ? F_WRLCK : F_RDLCK, v) != MPI_SUCCESS) {
			gompi_mutex_unlock(&f->atomic_mutex);
			return;
		}
	}
	if (f->view.datarep != NULL)
		gompi_datarep_transfer(d, &d->done_bytes, v);
	else
		gompi_file_transfer(f, d->write, d->pos, &d->b, d->bytes, &d->done_bytes, v);
	if (locks) {
		struct gompi_error_status unlock;
		if (lock_range(d, F_UNLCK, &unlock) != MPI_SUCCESS && v->class == MPI_SUCCESS)
			*v = unlock;
		gompi_mutex_unlock(&f->atomic_mutex);
	}
}

void gompi_file_execute(struct gompi_file_transfer_desc *d) {
	if (d->error.class == MPI_SUCCESS)
		transfer(d);
	if (d->collective)
		gompi_file_agree(d->f->comm, d->f->rank, d->f->size, &d->error);
}

static int start_prepared(struct gompi_file_transfer_desc *d, MPI_Request *request);

int gompi_file_run(const struct gompi_file_access *a, MPI_Status *status) {
	struct gompi_file *f = gompi_file_get(a->fh);
	struct gompi_file_transfer_desc d;
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	if (!prepare(a, f, &d))
		return gompi_file_raise(a->fh, a->call, &d.error);
	if (a->collective && gompi_file_has_queued_collectives(f)) {
		MPI_Request request;
		int rc = start_prepared(&d, &request);
		return rc == MPI_SUCCESS ? gompi_wait(&request, status) : rc;
	}
	gompi_file_execute(&d);
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, d.done_bytes, false);
	return d.error.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(a->fh, a->call, &d.error);
}

// Nonblocking accesses. The request's object is the access.

static void free_access(struct gompi_request *r) {
	free(r->text);
	free((void *)r->object);
}

static void describe_access_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				 struct gompi_wait_details *t) {
	what->reason = GOMPI_FOR_SELF;
	what->peer = r->vci->messages->node.self;
	t->operation = ((struct gompi_file_transfer_desc *)r->object)->call;
}

static const struct gompi_request_kind file_kind = {.describe_wait = describe_access_wait,
						    .free_object = free_access,
						    .error_detail = gompi_request_text_detail,
						    .keeps_handle = true};

static void complete_access(struct gompi_file_transfer_desc *d, void *arg) {
	struct gompi_request *r = arg;
	gompi_buffer_release(&d->b);
	r->result = (struct gompi_result){
		.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = d->error.class, .bytes = d->done_bytes};
	if (d->error.class != MPI_SUCCESS)
		r->text = strdup(d->error.text);
	gompi_request_complete(r);
}

static int no_request(struct gompi_file *f, const char *call) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active");
	return gompi_file_raise((MPI_File)f->handle, call, &v);
}

static int start_prepared(struct gompi_file_transfer_desc *prepared, MPI_Request *request) {
	struct gompi_file *f = prepared->f;
	struct gompi_file_transfer_desc *d = malloc(sizeof *d);
	struct gompi_request *r =
		d == NULL ? NULL : gompi_request_new(gompi_load(&gompi_app_messages), 0, &file_kind, (uintptr_t)d);
	if (r == NULL) {
		free(d);
		return no_request(f, prepared->call);
	}
	*d = *prepared;
	r->comm = f->handle;
	gompi_buffer_retain(&d->b);
	*request = (MPI_Request)gompi_request_handle(r);
	gompi_file_enqueue(d, complete_access, r);
	return MPI_SUCCESS;
}

int gompi_file_start(const struct gompi_file_access *a, MPI_Request *request) {
	struct gompi_file *f = gompi_file_get(a->fh);
	struct gompi_file_transfer_desc d;
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	if (request == NULL) {
		gompi_set_error(&d.error, MPI_ERR_ARG, "request is NULL");
		return gompi_file_raise(a->fh, a->call, &d.error);
	}
	if (!prepare(a, f, &d))
		return gompi_file_raise(a->fh, a->call, &d.error);
	return start_prepared(&d, request);
}

int gompi_file_begin(const struct gompi_file_access *a) {
	struct gompi_file *f = gompi_file_get(a->fh);
	if (f == NULL)
		return gompi_not_a_file(a->fh, a->call);
	struct gompi_file_transfer_desc d;
	prepare(a, f, &d);
	if (f->split.begun != NULL)
		return gompi_file_raise(a->fh, a->call, &d.error);
	int rc = start_prepared(&d, &f->split.request);
	if (rc == MPI_SUCCESS)
		f->split.begun = a->call;
	return rc;
}

int gompi_file_end(const char *call, const char *begin, MPI_File fh, MPI_Status *status) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (f->split.begun == NULL || strcmp(f->split.begun, begin) != 0) {
		gompi_set_error(&v, MPI_ERR_OTHER, "%s has not begun an operation on the file%s%s", begin,
				f->split.begun == NULL ? "" : "; the active one is ",
				f->split.begun == NULL ? "" : f->split.begun);
		return gompi_file_raise(fh, call, &v);
	}
	f->split.begun = NULL;
	return gompi_wait(&f->split.request, status);
}
