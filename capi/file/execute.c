#define _GNU_SOURCE // F_OFD_SETLKW, preadv2
#include "file/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>

#include "file/datarep.h"
#include "file/transfer.h"
#include "file/two_phase.h"

struct gompi_file_counts gompi_all_file_counts;
gompi_a32 gompi_file_counting;

static void add_access(struct gompi_file_counts *c, const struct gompi_file_transfer_desc *d) {
	gompi_add(&c->access[d->write].calls, 1);
	gompi_add(&c->access[d->write].bytes, (uint64_t)d->done_bytes);
}

// Counts an executed access, if a tool requests it.
static void count(const struct gompi_file_transfer_desc *d) {
	if (gompi_load(&gompi_file_counting) == 0)
		return;
	// pairs with gompi_tool_counts_acquire
	struct gompi_file_counts *own = (struct gompi_file_counts *)gompi_load_acquire(&d->f->tool_counts);
	add_access(&gompi_all_file_counts, d);
	if (own != NULL)
		add_access(own, d);
}

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

// Reads the bytes of d if all of them are in the page cache. Returns true if it has read them, or if the access begins
// at the end of the file.
static bool read_cached(struct gompi_file_transfer_desc *d) {
	const struct gompi_file *f = d->f;
	if (!f->view.is_contiguous || d->b.type != NULL)
		return false;
	const struct iovec data = {d->b.at, (size_t)d->bytes};
	// The result is less than d->bytes at the end of the file, and if only a part is in memory.
	ssize_t n = preadv2(f->fd, &data, 1, gompi_file_offset(&f->view, d->pos), RWF_NOWAIT);
	if (n != d->bytes && n != 0)
		return false;
	d->done_bytes = n;
	return true;
}

// Returns whether all processes call gompi_file_write_two_phase for this access. The result is equal at all processes.
static bool may_have_two_phases(const struct gompi_file_transfer_desc *d) {
	return d->collective && d->write && d->f->is_strided;
}

bool gompi_file_execute_short(struct gompi_file_transfer_desc *d) {
	// Starting a thread takes longer than copying MAX_SHORT_BYTES bytes, or than MAX_SHORT_BLOCKS system calls, one
	// for each block.
	enum { MAX_SHORT_BYTES = 64 << 10, MAX_SHORT_BLOCKS = 64 };
	const struct gompi_file *f = d->f;
	if (d->error.class != MPI_SUCCESS || d->bytes > MAX_SHORT_BYTES || f->is_atomic || may_have_two_phases(d) ||
	    (d->bytes > 0 && gompi_file_blocks(&f->view, d->bytes) > MAX_SHORT_BLOCKS))
		return false;
	if (d->write || f->is_in_memory || d->bytes == 0)
		transfer(d);
	else if (f->view.datarep != NULL || !read_cached(d))
		return false;
	count(d);
	return true;
}

void gompi_file_execute(struct gompi_file_transfer_desc *d) {
	bool two_phases = may_have_two_phases(d) && gompi_file_write_two_phase(d);
	if (!two_phases && d->error.class == MPI_SUCCESS)
		transfer(d);
	count(d);
	if (d->collective)
		gompi_file_agree(d->f->comm, d->f->rank, d->f->size, &d->error);
	// an aggregator has failed, which may have had data of this process
	if (two_phases && d->error.class != MPI_SUCCESS)
		d->done_bytes = 0;
}
