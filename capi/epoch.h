// Moving a window from one epoch to another by the table of core/rma/epoch.go.
#ifndef GOMPI_EPOCH_H
#define GOMPI_EPOCH_H

#include "refuse.h"
#include "win.h"
#include "z_epoch.h"

// Number of the access epoch in a window's access word: 0 none, k for bit k-1.
static inline int gompi_access_number(uint32_t access) {
	access &= ACCESS_MASK;
	return access == 0 ? 0 : __builtin_ctz(access) + 1;
}

// Moves w's access epoch as call event asks and adds locks to its count of locks; with UNLOCK the epoch stays while
// locks are left. Whether that is allowed; if not, nothing has changed and gompi_epoch_error tells why.
static inline bool gompi_epoch_move(struct gompi_win *w, enum gompi_epoch_call event, int locks) {
	uint32_t old = atomic_load_explicit(&w->access, memory_order_relaxed), new;
	do {
		uint8_t after = gompi_access_after[gompi_access_number(old)][event];
		if (after == 0xff ||
		    !gompi_exposure_allows[atomic_load_explicit(&w->exposure, memory_order_relaxed) != 0][event])
			return false;
		new = (old & ~(uint32_t)ACCESS_MASK) + ((uint32_t)locks << ACCESS_LOCKS_SHIFT);
		if (event == EPOCH_UNLOCK && new >> ACCESS_LOCKS_SHIFT != 0)
			after = (uint8_t)gompi_access_number(old);
		new |= after == 0 ? 0 : 1u << (after - 1);
	} while (!atomic_compare_exchange_weak_explicit(&w->access, &old, new, memory_order_acq_rel,
							memory_order_relaxed));
	return true;
}

// Finds MPI_ERR_RMA_SYNC, naming the epochs that are open.
__attribute__((cold)) int gompi_epoch_wrong(struct gompi_win *w, struct gompi_verdict *v);
// Raises it for call.
__attribute__((cold)) int gompi_epoch_error(struct gompi_win *w, const char *call);
// Raises MPI_ERR_WIN for a handle that is no live window.
__attribute__((cold)) int gompi_not_a_window(MPI_Win win, const char *call);
// Raises the error that ended a wait.
__attribute__((cold)) int gompi_wait_error(struct gompi_win *w, const char *call, int class);

#endif
