// The epoch check. Every synchronization call, and every operation that no fast path handles, is allowed or refused
// here by the table of core/rma/epoch.go (MPI-5.0 12.5).
#ifndef GOMPI_EPOCH_H
#define GOMPI_EPOCH_H

#include "base/error_status.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// Converts a window's access word to the number of its access epoch, which is the index in the tables of z_epoch.h. The
// number is 0 if no epoch is open, and k if bit k - 1 is set.
static inline int gompi_access_index(uint32_t access) {
	access &= ACCESS_MASK;
	return access == 0 ? 0 : __builtin_ctz(access) + 1;
}

// Returns 0 if the open epochs permit the call `call`, or the class of the error status. Does not change the epoch.
// Calls that check other arguments before they change the epoch use this function to report a wrong epoch first.
int gompi_epoch_check(struct gompi_win *w, enum gompi_epoch_call call, struct gompi_error_status *v);

// Executes the full epoch check, for calls that the short checks below do not permit.
int gompi_epoch_enter_slow(struct gompi_win *w, enum gompi_epoch_call call, int target, struct gompi_error_status *v);

// Returns true if the access epoch of an access word permits the call `call`.
static inline bool gompi_epoch_permits(uint32_t access, enum gompi_epoch_call call) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	return (access & ACCESS_MASK) != 0 ? (access & row->in) != 0 : row->in_none;
}

// Changes the access epoch according to the table row of a call. Returns false if the call is not permitted.
// EPOCH_UNLOCK leaves the epoch open while this process holds locks of other targets.
static inline __attribute__((always_inline)) bool gompi_epoch_transition(struct gompi_win *w,
									 enum gompi_epoch_call call) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	const uint32_t locks = call == EPOCH_LOCK ? 1 : call == EPOCH_UNLOCK ? (uint32_t)-1 : 0;
	uint32_t old = gompi_load(&w->access), next;
	do {
		if (__builtin_expect(!gompi_epoch_permits(old, call), 0))
			return false;
		uint32_t to = row->to;
		if (to == EPOCH_STAYS) {
			int after = row->after[gompi_access_index(old)];
			to = after == 0 ? 0 : 1u << (after - 1);
		}
		next = (old & ~(uint32_t)ACCESS_MASK) + (locks << ACCESS_LOCKS_SHIFT);
		next |= call == EPOCH_UNLOCK && next >> ACCESS_LOCKS_SHIFT != 0 ? old & ACCESS_MASK : to;
	} while (!gompi_cas_weak_acq_rel(&w->access, &old, next));
	return true;
}

// Returns true if the state of the target permits a call for it. If it returns false, gompi_epoch_enter_slow determines
// whether there is an error.
static inline bool gompi_epoch_permits_target(struct gompi_win *w, enum gompi_epoch_call call, int target) {
	if (__builtin_expect((uint32_t)target >= w->n, 0))
		return false;
	uint32_t state = gompi_load(&w->targets[target].state);
	switch (call) {
	case EPOCH_LOCK:
		return !(state & TARGET_LOCKED);
	case EPOCH_OPERATION: // TARGET_ACCESS is also the mask of ACCESS_FENCE and ACCESS_LOCK_ALL in w->access
		return ((state | gompi_load(&w->access)) & TARGET_ACCESS) != 0;
	case EPOCH_FLUSH:
	case EPOCH_FLUSH_LOCAL:
		return (state & TARGET_LOCKED) || (gompi_load(&w->access) & ACCESS_LOCK_ALL);
	default:
		return state & TARGET_LOCKED;
	}
}

// Checks whether the call `call` is permitted on w now for `target`: a rank, MPI_PROC_NULL, or GOMPI_ALL for all
// members or a group. If the call is permitted, the epoch changes at once or in gompi_epoch_leave_call, depending on
// the table. If not, nothing changes. Returns 0 or the class of the error status: MPI_ERR_RMA_SYNC, with the open
// epochs in the text; MPI_ERR_RANK if `target` is not a member. If `call` is a constant, the table row is a constant
// too, and few instructions remain.
static inline __attribute__((always_inline)) int gompi_epoch_enter_call(struct gompi_win *w, enum gompi_epoch_call call,
									int target, struct gompi_error_status *v) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	bool possible = !row->target || gompi_epoch_permits_target(w, call, target);
	if (!(row->exposure[0] && row->exposure[1]))
		possible = possible && row->exposure[gompi_load(&w->exposure) != 0];
	if (row->at_once)
		possible = possible && gompi_epoch_transition(w, call);
	else
		possible = possible && gompi_epoch_permits(gompi_load(&w->access), call);
	return __builtin_expect(possible, 1) ? MPI_SUCCESS : gompi_epoch_enter_slow(w, call, target, v);
}

// Changes the epoch after the wait in the call `call` has completed or failed.
static inline void gompi_epoch_leave_call(struct gompi_win *w, enum gompi_epoch_call call) {
	gompi_epoch_transition(w, call);
}

// Reports an assertion with bits that the call does not accept. `accepted` are the accepted bits, `names` their names.
// Returns the class of the error status, MPI_ERR_ASSERT.
__attribute__((cold)) int gompi_report_bad_assert(int assert, int accepted, const char *names,
						  struct gompi_error_status *v);

// Checks an assertion. Returns 0 or the class of the error status.
static inline int gompi_check_assert(int assert, int accepted, const char *names, struct gompi_error_status *v) {
	return __builtin_expect(assert & ~accepted, 0) ? gompi_report_bad_assert(assert, accepted, names, v)
						       : MPI_SUCCESS;
}

// Reverts the epoch change that gompi_epoch_enter_call has made for a call that then failed.
void gompi_epoch_undo(struct gompi_win *w, enum gompi_epoch_call call);

#pragma GCC visibility pop
#endif
