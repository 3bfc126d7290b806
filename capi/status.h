// The fields of MPI_Status that are the library's own; described in core/request/status.go.
#ifndef GOMPI_STATUS_H
#define GOMPI_STATUS_H

#include "base/abi.h"

enum { GOMPI_STATUS_CANCELLED = 1 };

#endif
