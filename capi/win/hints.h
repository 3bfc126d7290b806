// The info keys that windows honour (MPI-5.0 12.2.1 to 12.2.3, 12.2.7), and the values that are in force.
#ifndef GOMPI_WIN_HINTS_H
#define GOMPI_WIN_HINTS_H

#include <stdbool.h>

#include "base/abi.h"
#include "base/error_status.h"

// Promises that members make by info keys. core/rma uses the first three bits too. A promise is in force if all members
// make it. By default, no promise is made and no bit is set. So each bit for accumulate_ordering says that an ordering
// is not needed.
enum {
	PROMISE_SAME_SIZE = 1 << 0,
	PROMISE_SAME_DISP_UNIT = 1 << 1,
	PROMISE_NONCONTIGUOUS = 1 << 2, // info key alloc_shared_noncontig
	PROMISE_NO_LOCKS = 1 << 3,
	PROMISE_SAME_OP = 1 << 4, // info key accumulate_ops
	PROMISE_NOT_RAR = 1 << 5, // accumulate_ordering does not contain rar; the next three bits are for raw, war, waw
	PROMISE_NO_ORDER = 15 * PROMISE_NOT_RAR,
};

enum { GOMPI_IN_PLACE_OFF, GOMPI_IN_PLACE_ON, GOMPI_IN_PLACE_REQUIRED };

// The minimum alignment of all memory that MPI allocates: a cache line, which is more than predefined datatypes need.
enum { GOMPI_MIN_ALIGNMENT = 64 };

// The hints that have the same value in force at all members.
struct gompi_common_hints {
	uint64_t promises;    // PROMISE_* bits that all members make
	uint64_t granularity; // the smallest mpi_accumulate_granularity above 0, in bytes; 0 if none is set
};

struct gompi_hints {
	struct gompi_common_hints common;
	int64_t alignment; // mpi_minimum_memory_alignment, in bytes
	// gompirma_huge_pages: the application requests huge pages or, in an existing window, some memory uses them
	bool huge_pages;
	uint8_t in_place;      // gompirma_share_in_place: one of GOMPI_IN_PLACE_*
	char *kinds;           // mpi_assert_memory_alloc_kinds, from malloc; NULL if not set
	char *shared_in_place; // gompirma_shared_in_place, from malloc; NULL if not reported
};

// The message of a member to the other members in MPI_Win_set_info.
struct gompi_hints_message {
	int64_t class; // error class of the member's arguments, or 0
	struct gompi_common_hints common;
};

#pragma GCC visibility push(hidden)

// The info keys whose default is an environment variable, or a control variable of the tool information interface.
enum gompi_default_hint { HINT_HUGE_PAGES, HINT_SHARE_IN_PLACE, GOMPI_DEFAULT_HINTS };
// Stores the default of an info key: 0 for false, 1 for true, 2 for require. Returns 0 or the class of the error
// status, MPI_ERR_INFO_VALUE, if the environment variable is invalid.
int gompi_hint_default(enum gompi_default_hint hint, int *choice, struct gompi_error_status *v);
// Sets the default of an info key for later calls of this process, instead of the environment variable.
void gompi_hint_set_default(enum gompi_default_hint hint, int choice);

// Stores the default hints, modified by the environment and then by the info object. Returns 0 or the class of the
// error status: MPI_ERR_INFO or MPI_ERR_INFO_VALUE. After an error there is nothing to free.
int gompi_hints_read(struct gompi_hints *h, MPI_Info info, struct gompi_error_status *v);

// Modifies h according to an info object. Returns 0 or the class of the error status, like gompi_hints_read. After an
// error the caller must discard h.
int gompi_hints_apply(struct gompi_hints *h, MPI_Info info, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
