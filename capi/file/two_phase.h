// Collective writes of strided data in two phases: the processes copy their blocks to the buffers of some of them, the
// aggregators, which then write long ranges of the file.
#ifndef GOMPI_FILE_TWO_PHASE_H
#define GOMPI_FILE_TWO_PHASE_H

#include "file/access.h"

#pragma GCC visibility push(hidden)

// Executes a collective write in two phases, if all processes agree that this is possible and faster than independent
// writes. Returns false if they do not agree; then nothing has been written. Otherwise the result is in d->done_bytes
// and d->error, and other processes may have other results. Collective; blocks.
bool gompi_file_write_two_phase(struct gompi_file_transfer_desc *d);

// Returns the value in force of one of the hints cb_nodes, cb_buffer_size and striping_unit. Values that two phases
// cannot use are replaced: the number of aggregators is at most that of processes, a buffer has whole pages and a
// maximum size, and stripes have whole pages and fit into a buffer.
int64_t gompi_file_two_phase_hint(const struct gompi_file *f, int hint);

// Frees the buffers of a file's collective writes. Collective, because it frees a window.
void gompi_file_two_phase_free(struct gompi_file *f);

#pragma GCC visibility pop
#endif
