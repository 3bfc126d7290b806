#define _GNU_SOURCE // strerror_r that returns the text
#include "file/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "coll/z_calls.h"

struct gompi_object_pool gompi_files = GOMPI_OBJECT_POOL(GOMPI_ON_FILE, struct gompi_file);

int gompi_file_raise(MPI_File fh, const char *call, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_FILE, (uintptr_t)fh);
}

int gompi_not_a_file(MPI_File fh, const char *call) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_FILE,
			fh == MPI_FILE_NULL ? "the file is MPI_FILE_NULL" : "%#zx is not a file, or has been closed",
			(size_t)fh);
	return gompi_file_raise(MPI_FILE_NULL, call, &v);
}

static int errno_class(int errno_value) {
	switch (errno_value) {
	case ENOENT:
		return MPI_ERR_NO_SUCH_FILE;
	case EEXIST:
		return MPI_ERR_FILE_EXISTS;
	case EACCES:
	case EPERM:
		return MPI_ERR_ACCESS;
	case EROFS:
		return MPI_ERR_READ_ONLY;
	case ENOSPC:
		return MPI_ERR_NO_SPACE;
	case EDQUOT:
	case EFBIG:
		return MPI_ERR_QUOTA;
	case EBUSY:
	case ETXTBSY:
		return MPI_ERR_FILE_IN_USE;
	case ENAMETOOLONG:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
		return MPI_ERR_BAD_FILE;
	case ENOMEM:
		return MPI_ERR_NO_MEM;
	default:
		return MPI_ERR_IO;
	}
}

int gompi_file_errno(struct gompi_error_status *v, int errno_value, const char *name, const char *text, ...) {
	char what[200], reason[100];
	va_list ap;
	va_start(ap, text);
	vsnprintf(what, sizeof what, text, ap);
	va_end(ap);
	const char *why = strerror_r(errno_value, reason, sizeof reason);
	return name == NULL ? gompi_set_error(v, errno_class(errno_value), "%s: %s", what, why)
			    : gompi_set_error(v, errno_class(errno_value), "file \"%s\": %s: %s",
					      gompi_file_short_name(name), what, why);
}

int gompi_file_split_active_error(const struct gompi_file *f, struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_OTHER,
			       "the split collective operation of %s is still active: call its _end function first",
			       f->split.begun);
}

int gompi_file_exchange_error(struct gompi_error_status *v, int class) {
	return gompi_set_error(v, class,
			       class == MPIX_ERR_REVOKED ? "the communicator has been revoked"
							 : "a process of the communicator of the file has failed");
}

const char *gompi_file_short_name(const char *name) {
	size_t length = strlen(name), most = GOMPI_FILE_LABEL - sizeof " on file \"\"";
	return length > most ? name + length - most : name;
}

int gompi_file_label(MPI_File fh, char *text) {
	const struct gompi_file *f = gompi_file_get(fh);
	return f == NULL ? 0 : sprintf(text, " on file \"%s\"", gompi_file_short_name(f->name));
}

// Agrees on the result of a call, like gompi_file_agree, and on the minima and maxima of n values.
static int agree(MPI_Comm comm, int rank, int size, const int64_t *values, int n, int64_t *minima, int64_t *maxima,
		 struct gompi_error_status *v) {
	// The allreduce computes the minimum of each element. Element 0 is the rank if the process has failed, else
	// `size`: its minimum is the lowest failed rank. Elements 1 + 2i and 2 + 2i are value i and its negation; the
	// minimum of the negations is the negated maximum.
	int64_t mine[1 + 2 * GOMPI_FILE_MAX_EQUAL], all[1 + 2 * GOMPI_FILE_MAX_EQUAL];
	mine[0] = v->class == MPI_SUCCESS ? size : rank;
	for (int i = 0; i < n; i++)
		minima[i] = maxima[i] = mine[1 + 2 * i] = values[i], mine[2 + 2 * i] = -values[i];
	if (size == 1)
		return v->class;
	int rc = gompi_allreduce_c(mine, all, 1 + 2 * n, MPI_INT64_T, MPI_MIN, comm);
	if (rc != MPI_SUCCESS)
		return gompi_file_exchange_error(v, rc);
	if (all[0] < size) {
		rc = gompi_bcast_c(v, sizeof *v, MPI_BYTE, (int)all[0], comm);
		if (rc != MPI_SUCCESS)
			return gompi_file_exchange_error(v, rc);
		if (all[0] != rank) {
			struct gompi_error_status other = *v;
			gompi_set_error(v, other.class, "rank %d: %.360s", (int)all[0], other.text);
		}
		return v->class;
	}
	for (int i = 0; i < n; i++)
		minima[i] = all[1 + 2 * i], maxima[i] = -all[2 + 2 * i];
	return MPI_SUCCESS;
}

int gompi_file_agree_on(MPI_Comm comm, int rank, int size, const int64_t *values, int n, const char *what,
			struct gompi_error_status *v) {
	int64_t minima[GOMPI_FILE_MAX_EQUAL], maxima[GOMPI_FILE_MAX_EQUAL];
	if (agree(comm, rank, size, values, n, minima, maxima, v) != MPI_SUCCESS)
		return v->class;
	for (int i = 0; i < n; i++)
		if (minima[i] != maxima[i])
			return gompi_set_error(v, MPI_ERR_NOT_SAME,
					       "%s differs between the ranks: pass the same value on all ranks", what);
	return MPI_SUCCESS;
}

int gompi_file_agree_max(MPI_Comm comm, int rank, int size, int64_t *value, struct gompi_error_status *v) {
	int64_t minimum;
	return agree(comm, rank, size, value, 1, &minimum, value, v);
}

int gompi_file_agree_nonzero(MPI_Comm comm, int rank, int size, int64_t value, bool *differ,
			     struct gompi_error_status *v) {
	int64_t values[2] = {value, value != 0 ? value : INT64_MAX}, minima[2], maxima[2];
	int rc = agree(comm, rank, size, values, 2, minima, maxima, v);
	*differ = rc == MPI_SUCCESS && maxima[0] != 0 && minima[1] != maxima[0];
	return rc;
}

int gompi_file_agree(MPI_Comm comm, int rank, int size, struct gompi_error_status *v) {
	return agree(comm, rank, size, NULL, 0, NULL, NULL, v);
}
