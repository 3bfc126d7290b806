/* Defines the variables that MPI recognizes by their addresses, such as MPI_IN_PLACE. A program with mpif.h defines
 * them too, as common blocks. At run time, program and library use the same variable, since the dynamic linker resolves
 * each symbol to one definition. */
#include "gompi_f.h"

#define VARIABLE __attribute__((visibility("default")))

VARIABLE integer gompi_f_bottom_, gompi_f_in_place_, gompi_f_buffer_automatic_;
VARIABLE f_status gompi_f_status_ignore_, gompi_f_statuses_ignore_[1], gompi_f08_status_ignore_,
	gompi_f08_statuses_ignore_[1];
VARIABLE integer gompi_f_errcodes_ignore_[1], gompi_f_unweighted_[1], gompi_f_weights_empty_[1];
VARIABLE char gompi_f_argv_null_[1], gompi_f_argvs_null_[1];

/* The addresses of Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, for C programs (MPI-5.0 19.3.5). */
VARIABLE MPI_Fint *MPI_F_STATUS_IGNORE = (MPI_Fint *)&gompi_f_status_ignore_;
VARIABLE MPI_Fint *MPI_F_STATUSES_IGNORE = (MPI_Fint *)gompi_f_statuses_ignore_;
VARIABLE MPI_F08_status *MPI_F08_STATUS_IGNORE = (MPI_F08_status *)&gompi_f08_status_ignore_;
VARIABLE MPI_F08_status *MPI_F08_STATUSES_IGNORE = (MPI_F08_status *)gompi_f08_statuses_ignore_;
