// Counts the operations of windows by kind and path, for tools that request it: by mpix_gompirma.h, and by the tool
// information interface (tool/pvar.c). Operations on the direct path are not counted, so the fast paths need no
// counters.
#ifndef GOMPI_COUNTS_H
#define GOMPI_COUNTS_H

#include "base/atomics.h"
#include "base/tool_counts.h"
#include "win/operation.h"
#include "win/win.h"

_Static_assert((int)RMA_PUT == MPIX_GOMPIRMA_PUT && (int)RMA_GET == MPIX_GOMPIRMA_GET &&
		       (int)RMA_ACCUMULATE == MPIX_GOMPIRMA_ACCUMULATE &&
		       (int)RMA_GET_ACCUMULATE == MPIX_GOMPIRMA_GET_ACCUMULATE &&
		       (int)RMA_FETCH_AND_OP == MPIX_GOMPIRMA_FETCH_AND_OP &&
		       (int)RMA_COMPARE_AND_SWAP == MPIX_GOMPIRMA_COMPARE_AND_SWAP,
	       "kinds");

// Counters of the tool information interface: those of one window, or those of all windows.
struct gompi_win_counts {
	struct gompi_tool_counts head;
	struct MPIX_Gompirma_count count[MPIX_GOMPIRMA_KINDS][MPIX_GOMPIRMA_WAYS];
};

#pragma GCC visibility push(hidden)

extern struct gompi_win_counts gompi_all_win_counts;
// Number of requests to count operations: handles of the tool information interface, and windows with `counts`.
extern gompi_a32 gompi_counting;

__attribute__((cold)) void gompi_count_slow(struct gompi_win *w, enum gompi_rma_kind kind, int path, uint64_t bytes);

#pragma GCC visibility pop

// Counts an operation, if counting is requested and its path is not the direct one.
static inline void gompi_count_operation(struct gompi_win *w, enum gompi_rma_kind kind, int path, uint64_t bytes) {
	if (__builtin_expect(gompi_load(&gompi_counting) != 0, 0) && path != MPIX_GOMPIRMA_DIRECT)
		gompi_count_slow(w, kind, path, bytes);
}

#endif
