/* The name under which programs for ULFM (MPIX_Comm_shrink and others) include the extensions of their MPI library. */
#ifndef MPI_EXT_H
#define MPI_EXT_H

#include "mpix_gompirma.h"

/* Open MPI defines this macro if it has the functions of ULFM. */
#define OMPI_HAVE_MPI_EXT_FTMPI 1

#endif
