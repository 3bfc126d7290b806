// What the info keys say that windows honour (MPI-5.0 12.2.1 to 12.2.3, 12.2.7), as values in force.
#ifndef GOMPI_WIN_HINTS_H
#define GOMPI_WIN_HINTS_H

#include <stdbool.h>

#include "base/abi.h"
#include "base/verdict.h"

// What the members promise; the first three are core/rma's too. A window's are what all promise, so that defaults are
// 0: an ordering of accumulate_ordering that is not needed is a promise.
enum {
	PROMISE_SAME_SIZE = 1 << 0,
	PROMISE_SAME_DISP_UNIT = 1 << 1,
	PROMISE_NONCONTIGUOUS = 1 << 2, // alloc_shared_noncontig
	PROMISE_NO_LOCKS = 1 << 3,
	PROMISE_SAME_OP = 1 << 4, // accumulate_ops
	PROMISE_NOT_RAR = 1 << 5, // and raw, war, waw
	PROMISE_NO_ORDER = 15 * PROMISE_NOT_RAR,
};

enum { GOMPI_IN_PLACE_OFF, GOMPI_IN_PLACE_ON, GOMPI_IN_PLACE_REQUIRED };

enum { GOMPI_LEAST_ALIGNMENT = 64 }; // of all memory that MPI allocates: core/rma.LeastAlignment

// What has one value in force at all members.
struct gompi_common_hints {
	uint64_t promises;    // PROMISE_ bits that all give
	uint64_t granularity; // the least mpi_accumulate_granularity above 0, bytes; 0: none is given
};

struct gompi_hints {
	struct gompi_common_hints common;
	int64_t alignment; // mpi_minimum_memory_alignment, bytes
	bool huge_pages;   // gompirma_huge_pages: asked for; of a window that there is: it has some
	uint8_t in_place;  // gompirma_share_in_place: GOMPI_IN_PLACE_
	char *kinds;       // mpi_assert_memory_alloc_kinds, by malloc; NULL: not given
	char *shared;      // gompirma_shared_in_place, by malloc; NULL: it is not told
};

// What a member of a node tells the others there in MPI_Win_set_info.
struct gompi_told_hints {
	int64_t class; // of what is wrong with its arguments
	struct gompi_common_hints common;
};

#pragma GCC visibility push(hidden)

// Stores the defaults, changed as the environment and then info say. The verdict's class: MPI_ERR_INFO,
// MPI_ERR_INFO_VALUE; there is nothing to be freed then.
int gompi_hints_read(struct gompi_hints *h, MPI_Info info, struct gompi_verdict *v);

// Changes h as an info object says. The verdict's class as above; h is to be thrown away then.
int gompi_hints_take(struct gompi_hints *h, MPI_Info info, struct gompi_verdict *v);

#pragma GCC visibility pop
#endif
