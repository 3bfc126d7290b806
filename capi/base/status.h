// The library's own fields of MPI_Status, and the predefined request that any call may return for an operation that is
// already complete. MPI_internal[0] holds flags. MPI_internal[1] is the low half and MPI_internal[2] the high half of
// the number of bytes received. The number is -1 if it is undefined.
#ifndef GOMPI_STATUS_H
#define GOMPI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

// A program may wait for this request any number of times; it is never freed.
#define GOMPI_REQUEST_DONE ((MPI_Request)0x181)

enum { GOMPI_STATUS_CANCELLED = 1 };

// Returns the number of bytes received; a negative value means undefined.
static inline int64_t gompi_status_bytes(const MPI_Status *s) {
	return (int64_t)((uint64_t)(uint32_t)s->MPI_internal[2] << 32 | (uint32_t)s->MPI_internal[1]);
}

static inline void gompi_status_set_bytes(MPI_Status *s, int64_t bytes) {
	s->MPI_internal[1] = (int)(uint32_t)(uint64_t)bytes;
	s->MPI_internal[2] = (int)(uint32_t)((uint64_t)bytes >> 32);
}

// Writes all fields of *status except MPI_ERROR. The argument `status` may be MPI_STATUS_IGNORE.
static inline void gompi_status_fill(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled) {
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->MPI_internal[0] = cancelled ? GOMPI_STATUS_CANCELLED : 0;
	gompi_status_set_bytes(status, bytes);
}

// Stores the empty status, whose MPI_ERROR is MPI_SUCCESS (MPI-5.0 3.7.3). Unlike gompi_status_fill, it writes
// MPI_ERROR.
static inline void gompi_status_set_empty(MPI_Status *status) {
	if (status == MPI_STATUS_IGNORE)
		return;
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
	status->MPI_ERROR = MPI_SUCCESS;
}

#endif
