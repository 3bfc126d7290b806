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

// Frees the buffers of a file's collective writes. Collective, because it frees a window.
void gompi_file_two_phase_free(struct gompi_file *f);

#pragma GCC visibility pop
#endif
