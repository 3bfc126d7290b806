#define _GNU_SOURCE // F_OFD_SETLKW
#include "file/execute.h"

#include <errno.h>
#include <fcntl.h>

#include "file/datarep.h"
#include "file/transfer.h"
#include "file/two_phase.h"

// Locks or unlocks the range of the file that an access touches, against other processes, in atomic mode. Blocks.
static int lock_range(const struct gompi_file_transfer_desc *d, int type, struct gompi_error_status *v) {
	int64_t first, end;
	gompi_file_range(&d->f->view, d->pos, d->bytes, &first, &end);
	struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = first, .l_len = end - first};
	while (fcntl(d->f->fd, F_OFD_SETLKW, &lock) != 0)
		if (errno != EINTR)
			return gompi_file_errno(v, errno, NULL, "cannot lock %lld bytes at offset %lld for atomic mode",
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
	bool two_phases = d->collective && d->write && d->f->is_strided && gompi_file_write_two_phase(d);
	if (!two_phases && d->error.class == MPI_SUCCESS)
		transfer(d);
	if (d->collective)
		gompi_file_agree(d->f->comm, d->f->rank, d->f->size, &d->error);
}
