// Moves bytes between memory and the file of a view, by this process alone.
#ifndef GOMPI_FILE_TRANSFER_H
#define GOMPI_FILE_TRANSFER_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Reads or writes the bytes [0, bytes) of the buffer's data, which has the representation of the file, at position pos
// of the view's stream. Blocks until the system has done it; continues after interruptions and short transfers. *done
// is the number of bytes transferred: less than bytes at the end of the file, or after an error. Returns MPI_SUCCESS,
// or the error class in v.
int gompi_file_transfer(struct gompi_file *f, bool write, int64_t pos, const struct gompi_buffer *b, int64_t bytes,
			int64_t *done, struct gompi_error_status *v);

// Returns the offset in the file of position pos of the view's stream.
int64_t gompi_file_offset(const struct gompi_file_view *view, int64_t pos);
// Computes the range of the file, [*first, *end), that the bytes [pos, pos + bytes) of the view's stream span. bytes is
// not 0.
void gompi_file_range(const struct gompi_file_view *view, int64_t pos, int64_t bytes, int64_t *first, int64_t *end);
// Returns the smallest position of the view's stream whose byte is at offset or behind it.
int64_t gompi_file_position(const struct gompi_file_view *view, int64_t offset);

#pragma GCC visibility pop
#endif
