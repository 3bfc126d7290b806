// Hints of files (MPI-5.0 14.2.8).
#ifndef GOMPI_FILE_HINTS_H
#define GOMPI_FILE_HINTS_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

// Sets all hints to their defaults. The default of cb_nodes, the number of aggregators (two_phase.h), is the argument.
void gompi_file_hints_default(struct gompi_file_hints *hints, int cb_nodes);
// gompi_file_hints_read sets the hints that an info object contains. gompi_file_hints_read_environment sets the hints
// in the file that the environment variable ROMIO_HINTS names. Both ignore unknown keys and invalid values.
// gompi_file_hints_read returns MPI_SUCCESS, or MPI_ERR_INFO in v if `info` is not an info object.
int gompi_file_hints_read(struct gompi_file_hints *hints, MPI_Info info, struct gompi_error_status *v);
void gompi_file_hints_read_environment(struct gompi_file_hints *hints);
// Makes an info object with the hints in force. Returns MPI_SUCCESS or the class in v.
int gompi_file_hints_info(const struct gompi_file *f, MPI_Info *info, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
