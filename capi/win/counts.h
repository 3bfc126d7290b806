// Counts the operations of a window by kind and path, for a tool that requests it (mpix_gompirma.h). Operations on the
// direct path are not counted, so the fast paths need no counters.
#ifndef GOMPI_COUNTS_H
#define GOMPI_COUNTS_H

#include "base/atomics.h"
#include "win/operation.h"
#include "win/win.h"

_Static_assert((int)RMA_PUT == MPIX_GOMPIRMA_PUT && (int)RMA_GET == MPIX_GOMPIRMA_GET &&
		       (int)RMA_ACCUMULATE == MPIX_GOMPIRMA_ACCUMULATE &&
		       (int)RMA_GET_ACCUMULATE == MPIX_GOMPIRMA_GET_ACCUMULATE &&
		       (int)RMA_FETCH_AND_OP == MPIX_GOMPIRMA_FETCH_AND_OP &&
		       (int)RMA_COMPARE_AND_SWAP == MPIX_GOMPIRMA_COMPARE_AND_SWAP,
	       "kinds");

// Counts an operation, if counting is enabled and its path is not the direct one.
static inline void gompi_count_operation(struct gompi_win *w, enum gompi_rma_kind kind, int path, uint64_t bytes) {
	if (__builtin_expect(w->counts == NULL, 1) || path == MPIX_GOMPIRMA_DIRECT)
		return;
	struct MPIX_Gompirma_count *c = &w->counts[kind][path];
	gompi_add((gompi_a64 *)&c->calls, 1);
	gompi_add((gompi_a64 *)&c->bytes, bytes);
}

#endif
