// The fields of MPI_Status that are the library's own; described in core/request/status.go.
#ifndef GOMPI_STATUS_H
#define GOMPI_STATUS_H

#include <stdint.h>
#include <string.h>

#include "mpi_rma.h"

enum { GOMPI_STATUS_CANCELLED = 1 };

// Number of bytes received.
static inline int64_t gompi_status_bytes(const MPI_Status *status)
{
    int64_t n;
    memcpy(&n, &status->MPI_internal[1], sizeof n);
    return n;
}

static inline void gompi_status_set_bytes(MPI_Status *status, int64_t n)
{
    memcpy(&status->MPI_internal[1], &n, sizeof n);
}

#endif
