// The fields of MPI_Status that are the library's own; described in core/request/status.go.
#ifndef GOMPI_STATUS_H
#define GOMPI_STATUS_H

#include <stdint.h>

#include "base/abi.h"

enum { GOMPI_STATUS_CANCELLED = 1 };

// The number of bytes received; negative: it is undefined.
static inline int64_t gompi_status_bytes(const MPI_Status *s) {
	return (int64_t)((uint64_t)(uint32_t)s->MPI_internal[2] << 32 | (uint32_t)s->MPI_internal[1]);
}

static inline void gompi_status_set_bytes(MPI_Status *s, int64_t bytes) {
	s->MPI_internal[1] = (int)(uint32_t)(uint64_t)bytes;
	s->MPI_internal[2] = (int)(uint32_t)((uint64_t)bytes >> 32);
}

#endif
