// File pointers (MPI-5.0 14.4.3 and 14.4.4).
#include "file/position.h"

#include <errno.h>
#include <sys/stat.h>

#include "coll/z_calls.h"
#include "file/queue.h"
#include "file/transfer.h"
#include "file/z_calls.h"
#include "rma/z_calls.h"

static int fetch_and_op(struct gompi_file *f, int64_t operand, MPI_Op op, int64_t *was, struct gompi_error_status *v) {
	int rc = gompi_fetch_and_op(&operand, was, MPI_INT64_T, 0, 0, op, f->shared_win);
	if (rc == MPI_SUCCESS)
		rc = gompi_win_flush(0, f->shared_win);
	return rc == MPI_SUCCESS ? rc
				 : gompi_set_error(v, rc, "cannot access the shared file pointer, which rank 0 stores");
}

int gompi_file_shared_fetch_add(struct gompi_file *f, int64_t etypes, int64_t *was, struct gompi_error_status *v) {
	if (f->shared == NULL)
		return fetch_and_op(f, etypes, MPI_SUM, was, v);
	*was = (int64_t)gompi_add(f->shared, (uint64_t)etypes);
	return MPI_SUCCESS;
}

int gompi_file_shared_get(struct gompi_file *f, int64_t *value, struct gompi_error_status *v) {
	return gompi_file_shared_fetch_add(f, 0, value, v);
}

int gompi_file_shared_set(struct gompi_file *f, int64_t value, struct gompi_error_status *v) {
	int64_t was;
	if (f->shared == NULL)
		return fetch_and_op(f, value, MPI_REPLACE, &was, v);
	gompi_store(f->shared, (uint64_t)value);
	return MPI_SUCCESS;
}

int gompi_file_shared_ordered(struct gompi_file *f, int64_t etypes, int64_t *first, struct gompi_error_status *v) {
	int64_t before = 0, start = 0;
	int last = f->size - 1, rc = MPI_SUCCESS;
	if (f->size > 1)
		rc = gompi_exscan_c(&etypes, &before, 1, MPI_INT64_T, MPI_SUM, f->comm);
	// The last process knows the number of etypes of all processes, so it advances the pointer.
	if (rc == MPI_SUCCESS && f->rank == last)
		gompi_file_shared_fetch_add(f, before + etypes, &start, v);
	if (rc == MPI_SUCCESS && f->size > 1)
		rc = gompi_bcast_c(&start, 1, MPI_INT64_T, last, f->comm);
	*first = start + before;
	return rc == MPI_SUCCESS ? v->class : gompi_file_exchange_error(v, rc);
}

// Computes the target of a seek, in etypes. Returns MPI_SUCCESS or the class in v.
static int seek_target(struct gompi_file *f, MPI_Offset offset, int whence, int64_t current, int64_t *target,
		       struct gompi_error_status *v) {
	struct stat s;
	int64_t base = 0;
	switch (whence) {
	case MPI_SEEK_SET:
		break;
	case MPI_SEEK_CUR:
		base = current;
		break;
	case MPI_SEEK_END:
		if (fstat(f->fd, &s) != 0)
			return gompi_file_errno(v, errno, NULL, "cannot get the size of the file");
		// The end is the first etype of the view of which no byte is in the file.
		int64_t pos = gompi_file_position(&f->view, s.st_size);
		base = f->view.etype_bytes == 0 ? 0 : (pos + f->view.etype_bytes - 1) / f->view.etype_bytes;
		break;
	default:
		return gompi_set_error(v, MPI_ERR_ARG,
				       "whence is %d; it must be MPI_SEEK_SET, MPI_SEEK_CUR or "
				       "MPI_SEEK_END",
				       whence);
	}
	if (__builtin_add_overflow(base, (int64_t)offset, target) || *target < 0)
		return gompi_set_error(
			v, MPI_ERR_ARG,
			"offset %lld would move the file pointer to %lld; a file pointer must not be negative",
			(long long)offset, (long long)*target);
	return MPI_SUCCESS;
}

static int not_sequential(const struct gompi_file *f, struct gompi_error_status *v) {
	if (f->amode & MPI_MODE_SEQUENTIAL)
		return gompi_set_error(
			v, MPI_ERR_UNSUPPORTED_OPERATION,
			"the file has been opened with MPI_MODE_SEQUENTIAL, which permits only reads and "
			"writes with the shared file pointer");
	return MPI_SUCCESS;
}

int gompi_file_seek(MPI_File fh, MPI_Offset offset, int whence) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	int64_t target;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_seek");
	if (not_sequential(f, &v) != MPI_SUCCESS ||
	    seek_target(f, offset, whence, (int64_t)gompi_load(&f->position), &target, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_seek", &v);
	gompi_store(&f->position, (uint64_t)target);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_seek, gompi_file_seek);

int gompi_file_get_position(MPI_File fh, MPI_Offset *offset) {
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, "MPI_File_get_position");
	if (offset == NULL)
		return gompi_null_argument_error("MPI_File_get_position", "offset", GOMPI_ON_FILE, (uintptr_t)fh);
	if (not_sequential(f, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, "MPI_File_get_position", &v);
	*offset = (MPI_Offset)gompi_load(&f->position);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_position, gompi_file_get_position);

int gompi_file_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
	static const char call[] = "MPI_File_seek_shared";
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	int64_t current = 0, target = 0;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	gompi_file_await_collectives(f, call);
	if (not_sequential(f, &v) == MPI_SUCCESS && gompi_file_shared_get(f, &current, &v) == MPI_SUCCESS)
		seek_target(f, offset, whence, current, &target, &v);
	// The agreement ensures that all processes have read the pointer before rank 0 changes it.
	int64_t mine[] = {offset, whence};
	if (gompi_file_agree_on(f->comm, f->rank, f->size, mine, 2, "offset or whence", &v) == MPI_SUCCESS) {
		if (f->rank == 0)
			gompi_file_shared_set(f, target, &v);
		gompi_file_agree(f->comm, f->rank, f->size, &v);
	}
	return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(fh, call, &v);
}
GOMPI_ENTRY(MPI_File_seek_shared, gompi_file_seek_shared);

int gompi_file_get_position_shared(MPI_File fh, MPI_Offset *offset) {
	static const char call[] = "MPI_File_get_position_shared";
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	int64_t value;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (offset == NULL)
		return gompi_null_argument_error(call, "offset", GOMPI_ON_FILE, (uintptr_t)fh);
	if (not_sequential(f, &v) != MPI_SUCCESS || gompi_file_shared_get(f, &value, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, call, &v);
	*offset = value;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_position_shared, gompi_file_get_position_shared);
