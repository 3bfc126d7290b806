// Attributes: calling the application's functions, and the memory that the predefined ones of communicators point to.
#ifndef GOMPI_ATTR_H
#define GOMPI_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// What the predefined attributes of communicators point to; Go fills it in when MPI is initialized.
struct gompi_comm_attributes {
	int tag_ub, host, io, wtime_is_global, appnum, lastusedcode;
	int universe_size; // 0: unknown
	bool has_appnum;
};
extern struct gompi_comm_attributes gompi_comm_attributes;

// The result of a copy function.
struct gompi_attr_copied {
	uintptr_t value;
	int keep, code;
};

struct gompi_attr_copied gompi_attr_call_copy(uintptr_t function, uintptr_t object, int keyval, uintptr_t extra,
					      uintptr_t value);
int gompi_attr_call_delete(uintptr_t function, uintptr_t object, int keyval, uintptr_t value, uintptr_t extra);

#pragma GCC visibility pop
#endif
