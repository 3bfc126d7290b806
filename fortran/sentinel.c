/* The variables whose address has a meaning. A program with mpif.h has them as common blocks of its own, which the dynamic linker makes one
 * with these. */
#include "gompi_f.h"

#define VARIABLE __attribute__((visibility("default")))

VARIABLE int gompi_f_bottom_, gompi_f_in_place_, gompi_f_buffer_automatic_;
VARIABLE MPI_Status gompi_f_status_ignore_, gompi_f_statuses_ignore_[1];
VARIABLE int gompi_f_errcodes_ignore_[1], gompi_f_unweighted_[1], gompi_f_weights_empty_[1];
VARIABLE char gompi_f_argv_null_[1], gompi_f_argvs_null_[1];
