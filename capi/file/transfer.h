// Transfers between memory and the bytes of a file that a view shows, by this process alone.
#ifndef GOMPI_FILE_TRANSFER_H
#define GOMPI_FILE_TRANSFER_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Reads or writes the bytes [0, bytes) of the buffer's data, which has the representation of the file, at position pos
// of the view's stream. Blocks until the system has transferred the data; continues after interruptions and short
// transfers. *done is the number of bytes transferred. It is less than `bytes` at the end of the file, or after an
// error. Returns MPI_SUCCESS, or the error class in v.
int gompi_file_transfer(struct gompi_file *f, bool write, int64_t pos, const struct gompi_buffer *b, int64_t bytes,
			int64_t *done, struct gompi_error_status *v);

// Reads or writes a contiguous range of the file and of memory. Blocks and returns like gompi_file_transfer.
int gompi_file_transfer_bytes(const struct gompi_file *f, bool write, int64_t offset, char *at, int64_t bytes,
			      int64_t *done, struct gompi_error_status *v);

// Returns memory of 2 * GOMPI_FILE_STAGE_BYTES bytes for packed data, or NULL if out of memory. No other thread uses
// the memory until gompi_file_stage_release. Releasing NULL has no effect.
char *gompi_file_stage_acquire(struct gompi_file *f);
void gompi_file_stage_release(struct gompi_file *f, char *stage);
enum { GOMPI_FILE_STAGE_BYTES = 1 << 20 }; // fits into the second-level cache

// Positions a cursor over the tiles of a view (file.h) at position pos of its stream. The caller may then consume
// `bytes` bytes.
void gompi_file_cursor(struct gompi_cursor *c, const struct gompi_file_view *view, int64_t pos, int64_t bytes);
// Returns the offset in the file of position pos of the view's stream.
int64_t gompi_file_offset(const struct gompi_file_view *view, int64_t pos);
// Computes the range of the file, [*first, *end), that the bytes [pos, pos + bytes) of the view's stream span. bytes is
// not 0.
void gompi_file_range(const struct gompi_file_view *view, int64_t pos, int64_t bytes, int64_t *first, int64_t *end);
// Returns the approximate number of blocks of the file that `bytes` > 0 bytes of the view's stream span.
int64_t gompi_file_blocks(const struct gompi_file_view *view, int64_t bytes);
// Returns the smallest position of the view's stream whose byte is at this offset in the file or behind it. Returns
// INT64_MAX / 4 if this position is too large.
int64_t gompi_file_position(const struct gompi_file_view *view, int64_t offset);

#pragma GCC visibility pop
#endif
