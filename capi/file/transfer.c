#define _GNU_SOURCE // fallocate
#include "file/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/minmax.h"

// Tuning of transfers.
enum {
	// The system transfers at most 2,147,479,552 bytes in a call; longer requests end short.
	MAX_CALL_BYTES = 1 << 30,
	// Data whose runs in memory are shorter than this is packed, because the entry of an iovec would cost more than
	// the copy of a run.
	MIN_IOVEC_BYTES = 512,
	IOVECS = 256,
	STAGE_BYTES = GOMPI_FILE_STAGE_BYTES,
	// A block is read in one call with its predecessor if the gap between them has at most this many bytes. To read
	// more bytes would cost more than a system call. Reads of files in memory cost more per byte, because their
	// pages are smaller.
	MAX_READ_GAP = 4096,
	MAX_READ_GAP_IN_MEMORY = 2048,
	// Such blocks of at least this size on average are read to their places, with the gaps apart. Smaller blocks
	// are copied from a range with the gaps, because the entries of the iovec would cost more than the copies.
	MIN_SCATTERED_BYTES = 2048,
	// Minimum number of blocks for which a mapping is used: it costs two system calls and their TLB flushes, as
	// much as this many writes.
	MIN_MAPPED_BLOCKS = 16,
};

static int64_t page_bytes = 4096;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14
#endif

__attribute__((constructor)) static void read_page_bytes(void) { page_bytes = sysconf(_SC_PAGESIZE); }

static int io_error(const struct gompi_file *f, bool write, int64_t offset, int64_t bytes,
		    struct gompi_error_status *v) {
	return gompi_file_errno(v, errno, NULL, "cannot %s %lld bytes at offset %lld", write ? "write" : "read",
				(long long)bytes, (long long)offset);
}

// Transfers between a contiguous range of the file and n ranges of memory, of `bytes` bytes in total. Returns like
// gompi_file_transfer. Destroys iov.
static int transfer_iovecs(const struct gompi_file *f, bool write, int64_t offset, struct iovec *iov, int n,
			   int64_t bytes, int64_t *done, struct gompi_error_status *v) {
	*done = 0;
	while (*done < bytes) {
		ssize_t part = write ? pwritev(f->fd, iov, n, offset + *done) : preadv(f->fd, iov, n, offset + *done);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return io_error(f, write, offset + *done, bytes - *done, v);
		if (part == 0) // the end of the file
			break;
		*done += part;
		for (; n > 0 && (size_t)part >= iov->iov_len; iov++, n--)
			part -= (ssize_t)iov->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + part;
			iov->iov_len -= (size_t)part;
		}
	}
	return MPI_SUCCESS;
}

int gompi_file_transfer_bytes(const struct gompi_file *f, bool write, int64_t offset, char *at, int64_t bytes,
			      int64_t *done, struct gompi_error_status *v) {
	*done = 0;
	while (*done < bytes) {
		size_t length = (size_t)gompi_min_i64(bytes - *done, MAX_CALL_BYTES);
		ssize_t part = write ? pwrite(f->fd, at + *done, length, offset + *done)
				     : pread(f->fd, at + *done, length, offset + *done);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return io_error(f, write, offset + *done, bytes - *done, v);
		if (part == 0)
			break;
		*done += part;
	}
	return MPI_SUCCESS;
}

// Transfers between the bytes [from, from + bytes) of the buffer's data, whose runs in memory are long, and a
// contiguous range of the file. Does not pack the data. Returns like gompi_file_transfer.
static int transfer_runs(const struct gompi_file *f, bool write, int64_t offset, const struct gompi_buffer *b,
			 int64_t from, int64_t bytes, int64_t *done, struct gompi_error_status *v) {
	*done = 0;
	while (*done < bytes) {
		struct iovec iov[IOVECS];
		int n = gompi_buffer_runs(b, from + *done, iov, IOVECS);
		int64_t length = 0, part;
		int used = 0;
		for (; used < n && length < MAX_CALL_BYTES && length < bytes - *done; used++) {
			iov[used].iov_len = (size_t)gompi_min_i64(
				(int64_t)iov[used].iov_len, gompi_min_i64(bytes - *done, MAX_CALL_BYTES) - length);
			length += (int64_t)iov[used].iov_len;
		}
		int rc = transfer_iovecs(f, write, offset + *done, iov, used, length, &part, v);
		*done += part;
		if (rc != MPI_SUCCESS || part < length)
			return rc;
	}
	return MPI_SUCCESS;
}

// Successive blocks of the view that are transferred together.
struct blocks {
	struct gompi_cursor cursor; // positioned after the last block
	int64_t offset;             // offset of the first block in the file
	int64_t hull;               // bytes from the first block to the end of the last one
	int64_t bytes;              // bytes of all blocks
	int64_t count;
	bool is_contiguous; // each block begins where its predecessor ends
	bool overlaps;      // a block begins before the end of its predecessor
};

void gompi_file_cursor(struct gompi_cursor *c, const struct gompi_file_view *view, int64_t pos, int64_t bytes) {
	int64_t tiles = (pos + bytes + view->tile->size - 1) / view->tile->size;
	gompi_cursor_init(c, view->tile, tiles, GOMPI_BYTES);
	gompi_cursor_seek(c, pos);
}

// Consumes successive blocks of at most `limit` bytes in total from g->cursor, and describes them in *g. Stops before a
// block that begins before the first one. Also stops before a block that follows a gap of more than max_gap bytes, if
// the gap and the block have more than max_stride bytes together. If there are several blocks, they span at most
// STAGE_BYTES bytes of the file.
static void next_blocks(struct blocks *g, int64_t disp, int64_t limit, int64_t max_stride, int64_t max_gap) {
	struct gompi_cursor *c = &g->cursor;
	const struct gompi_run *run = &c->run;
	const int64_t begin = run->offset + c->skip_bytes;
	int64_t end = begin;
	g->offset = disp + begin;
	g->bytes = g->count = 0;
	g->is_contiguous = true;
	g->overlaps = false;
	while (run->n > 0 && g->bytes < limit) {
		int64_t at = run->offset + c->skip_bytes, room = limit - g->bytes, n = 1;
		if (g->count > 0)
			room = gompi_min_i64(room, begin + STAGE_BYTES - at);
		if (room <= 0 || at < begin || end - begin > STAGE_BYTES ||
		    (at != end && at + run->block - c->skip_bytes - end > max_stride && at - end > max_gap))
			break;
		g->is_contiguous = g->is_contiguous && at == end;
		g->overlaps = g->overlaps || at < end;
		if (run->n > 1 && c->skip_bytes == 0 && run->stride > 0 &&
		    (run->stride <= max_stride || run->stride - run->block <= max_gap))
			n = gompi_min_i64(gompi_min_i64(run->n, room / run->block),
					  (begin + STAGE_BYTES - run->block - at) / run->stride + 1);
		if (n > 1) {
			g->is_contiguous = g->is_contiguous && run->stride == run->block;
			g->overlaps = g->overlaps || run->stride < run->block;
			end = gompi_max_i64(end, at + (n - 1) * run->stride + run->block);
			g->bytes += n * run->block;
			g->count += n;
			gompi_cursor_skip_blocks(c, n);
		} else {
			n = gompi_cursor_next(c, room, &at);
			end = gompi_max_i64(end, at + n); // blocks may overlap
			g->bytes += n;
			g->count++;
		}
	}
	g->hull = end - begin;
}

// Reads the blocks g to `data`, and the gaps between them to the memory `gap` of MAX_READ_GAP bytes. The cursor is at
// the first block, and the blocks do not overlap. *done is the number of bytes of the hull that have been read. Returns
// like gompi_file_transfer.
static int read_scattered(const struct gompi_file *f, struct gompi_cursor c, const struct blocks *g, int64_t disp,
			  char *data, char *gap, int64_t *done, struct gompi_error_status *v) {
	struct iovec iov[IOVECS];
	int64_t end = g->offset - disp, at = 0, read_bytes = 0, part;
	*done = 0;
	while (read_bytes < g->bytes) {
		const int64_t begin = end;
		int n = 0;
		while (read_bytes < g->bytes && n + 2 <= IOVECS) {
			const int64_t block = gompi_cursor_next(&c, g->bytes - read_bytes, &at);
			if (at > end)
				iov[n++] = (struct iovec){gap, (size_t)(at - end)};
			iov[n++] = (struct iovec){data + read_bytes, (size_t)block};
			end = at + block;
			read_bytes += block;
		}
		int rc = transfer_iovecs(f, false, disp + begin, iov, n, end - begin, &part, v);
		*done += part;
		if (rc != MPI_SUCCESS || part < end - begin)
			return rc;
	}
	return MPI_SUCCESS;
}

// Returns how many of the next `bytes` bytes of blocks are before the offset `end`.
static int64_t bytes_before(struct gompi_cursor c, int64_t bytes, int64_t end) {
	int64_t before = 0, at = 0, n;
	for (; before < bytes; before += n) {
		n = gompi_cursor_next(&c, bytes - before, &at);
		if (at + n > end)
			return before + gompi_max_i64(0, end - at);
	}
	return before;
}

// Stores the blocks g in mapped pages of the file, beginning with the page of the first block. Their packed data is at
// `data`, and the cursor c is at the first block. A write of the whole range instead would overwrite the bytes between
// the blocks, which other processes may write at the same time. Returns false, and writes nothing, if the file cannot
// be mapped or extended.
static bool write_mapped(const struct gompi_file *f, struct gompi_cursor *c, const struct blocks *g, int64_t disp,
			 char *data) {
	int64_t first = g->offset & -page_bytes, length = g->offset + g->hull - first;
	char *map = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, first);
	if (map == MAP_FAILED)
		return false;
	// A store to a page raises SIGBUS if the device has no space for the page. So this code allocates the space
	// first. MADV_POPULATE_WRITE then reports as an error what a store would report as a signal.
	bool is_ready = fallocate(f->fd, 0, g->offset, g->hull) == 0 &&
			(madvise(map, (size_t)length, MADV_POPULATE_WRITE) == 0 || errno == EINVAL);
	if (is_ready)
		gompi_cursor_unpack((char *)((uintptr_t)map + (uintptr_t)(disp - first)), c, data, g->bytes);
	munmap(map, (size_t)length);
	return is_ready;
}

// Transfers between the packed memory `data` and the bytes of the view's stream from position `pos` on. A read needs
// the memory `stage` of STAGE_BYTES bytes for ranges with gaps. Returns like gompi_file_transfer.
static int transfer_blocks(const struct gompi_file *f, bool write, int64_t pos, char *data, int64_t bytes, char *stage,
			   int64_t *done, struct gompi_error_status *v) {
	struct blocks g;
	struct gompi_cursor c;
	const int64_t max_read_gap = f->is_in_memory ? MAX_READ_GAP_IN_MEMORY : MAX_READ_GAP;
	gompi_file_cursor(&g.cursor, &f->view, pos, bytes);
	*done = 0;
	while (*done < bytes) {
		int64_t part, disp = f->view.disp;
		c = g.cursor;
		next_blocks(&g, disp, bytes - *done, write ? f->map_stride : 0, write ? -1 : max_read_gap);
		int rc = MPI_SUCCESS;
		if (g.is_contiguous) {
			rc = gompi_file_transfer_bytes(f, write, g.offset, data + *done, g.bytes, &part, v);
		} else if (!write) {
			const bool scatters = !g.overlaps && g.bytes / g.count >= MIN_SCATTERED_BYTES;
			rc = scatters ? read_scattered(f, c, &g, disp, data + *done, stage, &part, v)
				      : gompi_file_transfer_bytes(f, false, g.offset, stage, g.hull, &part, v);
			// at the end of the file, only some of the blocks are there
			part = part < g.hull ? bytes_before(c, g.bytes, g.offset + part - disp) : g.bytes;
			if (!scatters)
				gompi_cursor_pack(data + *done,
						  (char *)((uintptr_t)stage - (uintptr_t)(g.offset - disp)), &c, part);
		} else if (g.count >= MIN_MAPPED_BLOCKS && write_mapped(f, &c, &g, disp, data + *done)) {
			part = g.bytes;
		} else {
			int64_t at = 0, n, written;
			for (part = 0; part < g.bytes; part += n) {
				n = gompi_cursor_next(&c, g.bytes - part, &at);
				rc = gompi_file_transfer_bytes(f, true, disp + at, data + *done + part, n, &written, v);
				if (rc != MPI_SUCCESS) {
					part += written;
					break;
				}
			}
		}
		*done += part;
		if (rc != MPI_SUCCESS || part < g.bytes)
			return rc;
	}
	return MPI_SUCCESS;
}

char *gompi_file_stage_acquire(struct gompi_file *f) {
	char *stage = gompi_swap_seq_cst(&f->stage, NULL);
	return stage != NULL ? stage : malloc((size_t)2 * STAGE_BYTES);
}

void gompi_file_stage_release(struct gompi_file *f, char *stage) {
	if (stage != NULL)
		free(gompi_swap_seq_cst(&f->stage, stage));
}

static int no_memory(struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for an intermediate buffer of %d bytes",
			       2 * STAGE_BYTES);
}

int gompi_file_transfer(struct gompi_file *f, bool write, int64_t pos, const struct gompi_buffer *b, int64_t bytes,
			int64_t *done, struct gompi_error_status *v) {
	const struct gompi_file_view *view = &f->view;
	*done = 0;
	if (bytes == 0)
		return MPI_SUCCESS;
	// A write beyond f->max_bytes would end the process with SIGXFSZ.
	int64_t first = 0, end = 0;
	if (write && f->max_bytes != INT64_MAX)
		gompi_file_range(view, pos, bytes, &first, &end);
	if (end > f->max_bytes)
		return gompi_set_error(
			v, MPI_ERR_QUOTA,
			"the write of %lld bytes at offset %lld would extend the file beyond %lld bytes, "
			"the limit on the size of files (ulimit -f)",
			(long long)bytes, (long long)first, (long long)f->max_bytes);
	bool packs = b->type != NULL;
	if (view->is_contiguous) {
		int64_t offset = view->disp + view->tile->origin + pos;
		if (!packs)
			return gompi_file_transfer_bytes(f, write, offset, b->at, bytes, done, v);
		if (b->type->size / b->type->segments >= MIN_IOVEC_BYTES)
			return transfer_runs(f, write, offset, b, 0, bytes, done, v);
	}
	// One part of the memory is for packed data, the other one for the range of the file that the blocks span.
	char *memory = NULL;
	if (packs || !write) {
		if ((memory = gompi_file_stage_acquire(f)) == NULL)
			return no_memory(v);
	}
	int rc = MPI_SUCCESS;
	while (*done < bytes && rc == MPI_SUCCESS) {
		int64_t part, length = packs ? gompi_min_i64(bytes - *done, STAGE_BYTES) : bytes - *done;
		char *data = packs ? memory : b->at + *done;
		if (packs && write)
			gompi_buffer_pack(b, data, *done, length);
		if (view->is_contiguous)
			rc = gompi_file_transfer_bytes(f, write, view->disp + view->tile->origin + pos + *done, data,
						       length, &part, v);
		else
			rc = transfer_blocks(f, write, pos + *done, data, length,
					     memory == NULL ? NULL : memory + STAGE_BYTES, &part, v);
		if (packs && !write && part > 0)
			gompi_buffer_unpack(b, *done, data, part);
		*done += part;
		if (part < length)
			break;
	}
	gompi_file_stage_release(f, memory);
	return rc;
}

int64_t gompi_file_offset(const struct gompi_file_view *view, int64_t pos) {
	if (view->is_contiguous)
		return view->disp + view->tile->origin + pos;
	if (view->tile->size == 0)
		return view->disp;
	struct gompi_cursor c;
	int64_t offset = 0;
	gompi_file_cursor(&c, view, pos, 1);
	gompi_cursor_next(&c, 1, &offset);
	return view->disp + offset;
}

void gompi_file_range(const struct gompi_file_view *view, int64_t pos, int64_t bytes, int64_t *first, int64_t *end) {
	const struct gompi_type *t = view->tile;
	int64_t first_copy = pos / t->size, last_copy = (pos + bytes - 1) / t->size;
	*first = gompi_file_offset(view, pos);
	*end = gompi_file_offset(view, pos + bytes - 1) + 1;
	if (first_copy == last_copy || view->is_contiguous)
		return;
	// Copies of the filetype may overlap. So the second copy may begin before the byte at pos, and the last copy
	// but one may end behind the last byte.
	*first = gompi_min_i64(*first, view->disp + (first_copy + 1) * t->extent + t->true_lb);
	*end = gompi_max_i64(*end, view->disp + (last_copy - 1) * t->extent + t->true_ub);
}

int64_t gompi_file_blocks(const struct gompi_file_view *view, int64_t bytes) {
	const struct gompi_type *t = view->tile;
	return view->is_contiguous ? 1 : gompi_max_i64(1, bytes / (t->size / t->segments));
}

int64_t gompi_file_position(const struct gompi_file_view *view, int64_t offset) {
	const struct gompi_type *t = view->tile;
	if (offset <= view->disp || t->size == 0)
		return 0;
	if (view->is_contiguous)
		return gompi_max_i64(0, offset - view->disp - t->origin);
	// The first copy of the filetype that reaches the offset. With an extent of 0, all copies cover the same bytes.
	int64_t beyond = offset - view->disp - (t->true_ub - 1), copy = 0, low, high;
	if (beyond > 0 && t->extent > 0)
		copy = (beyond + t->extent - 1) / t->extent;
	if (__builtin_mul_overflow(copy, t->size, &low) || low > INT64_MAX / 4)
		return INT64_MAX / 4;
	// Bisection: the offset does not decrease with the position in a copy.
	high = low + t->size;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (gompi_file_offset(view, middle) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
