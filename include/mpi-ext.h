/* The name under which programs for ULFM (MPIX_Comm_shrink and others) include the extensions of their MPI library. */
#ifndef MPI_EXT_H
#define MPI_EXT_H

#include "mpix_gompirma.h"

/* Open MPI defines these macros if it has the functions of ULFM. */
#define OMPI_HAVE_MPI_EXT_FTMPI 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1

/* The names of newer versions of ULFM. */
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED

#endif
