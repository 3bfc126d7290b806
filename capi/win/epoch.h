// The gate for epochs: every synchronization call, and every operation that no fast path takes, passes here and is
// allowed or refused by the table of core/rma/epoch.go (MPI-5.0 12.5).
#ifndef GOMPI_EPOCH_H
#define GOMPI_EPOCH_H

#include "base/verdict.h"
#include "win/win.h"

#pragma GCC visibility push(hidden)

// Number of the access epoch in a window's access word: 0 none, k for bit k-1.
static inline int gompi_access_number(uint32_t access) {
	access &= ACCESS_MASK;
	return access == 0 ? 0 : __builtin_ctz(access) + 1;
}

// Returns 0 if call is possible in the epochs that are open, or the verdict's class; nothing changes. For calls that
// look at other arguments before they come to the gate: an epoch that does not fit is told before those.
int gompi_epoch_check(struct gompi_win *w, enum gompi_epoch_call call, struct gompi_verdict *v);

// The gate for calls of which a few instructions do not tell that they are possible.
int gompi_epoch_ask(struct gompi_win *w, enum gompi_epoch_call call, int target, struct gompi_verdict *v);

// Returns true if call is possible in the access epoch of an access word.
static inline bool gompi_epoch_in(uint32_t access, enum gompi_epoch_call call) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	return (access & ACCESS_MASK) != 0 ? (access & row->in) != 0 : row->in_none;
}

// Moves the access epoch as the row of a call says. Returns true if the call is possible. With EPOCH_UNLOCK the epoch
// stays while locks are left.
static inline __attribute__((always_inline)) bool gompi_epoch_move(struct gompi_win *w, enum gompi_epoch_call call) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	const uint32_t locks = call == EPOCH_LOCK ? 1 : call == EPOCH_UNLOCK ? (uint32_t)-1 : 0;
	uint32_t old = gompi_load(&w->access), next;
	do {
		if (__builtin_expect(!gompi_epoch_in(old, call), 0))
			return false;
		uint32_t to = row->to;
		if (to == EPOCH_STAYS) {
			int after = row->after[gompi_access_number(old)];
			to = after == 0 ? 0 : 1u << (after - 1);
		}
		next = (old & ~(uint32_t)ACCESS_MASK) + (locks << ACCESS_LOCKS_SHIFT);
		next |= call == EPOCH_UNLOCK && next >> ACCESS_LOCKS_SHIFT != 0 ? old & ACCESS_MASK : to;
	} while (!gompi_change_acq_rel(&w->access, &old, next));
	return true;
}

// Returns true if a call for a target is possible for all that the target's state says. What is not told here is no
// error yet.
static inline bool gompi_epoch_target(struct gompi_win *w, enum gompi_epoch_call call, int target) {
	if (__builtin_expect((uint32_t)target >= w->n, 0))
		return false;
	uint32_t state = gompi_load(&w->targets[target].state);
	switch (call) {
	case EPOCH_LOCK:
		return !(state & TARGET_LOCKED);
	case EPOCH_OPERATION: // the bits of both words that open an epoch to this target are the same ones
		return ((state | gompi_load(&w->access)) & TARGET_ACCESS) != 0;
	case EPOCH_FLUSH:
	case EPOCH_FLUSH_LOCAL:
		return (state & TARGET_LOCKED) || (gompi_load(&w->access) & ACCESS_LOCK_ALL);
	default:
		return state & TARGET_LOCKED;
	}
}

// Asks whether call is possible on w now, for target: a rank, MPI_PROC_NULL, or GOMPI_ALL for all members or a group.
// If so the epoch changes at once or when the call says gompi_epoch_over, as the table has it; if not nothing has
// changed. 0, or the verdict's class: MPI_ERR_RMA_SYNC, naming what is open; MPI_ERR_RANK: target is no member.
// Where call is a constant the table's row is, too, and few instructions are left of this.
static inline __attribute__((always_inline)) int gompi_epoch(struct gompi_win *w, enum gompi_epoch_call call,
							     int target, struct gompi_verdict *v) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	bool possible = !row->target || gompi_epoch_target(w, call, target);
	if (!(row->exposure[0] && row->exposure[1]))
		possible = possible && row->exposure[gompi_load(&w->exposure) != 0];
	if (row->at_once)
		possible = possible && gompi_epoch_move(w, call);
	else
		possible = possible && gompi_epoch_in(gompi_load(&w->access), call);
	return __builtin_expect(possible, 1) ? MPI_SUCCESS : gompi_epoch_ask(w, call, target, v);
}

// What call had to wait for is done, or has failed: its epoch changes now.
static inline void gompi_epoch_over(struct gompi_win *w, enum gompi_epoch_call call) { gompi_epoch_move(w, call); }

// Reports an assertion with bits that the call does not know; known are the others, called names. Returns the verdict's
// class, MPI_ERR_ASSERT.
__attribute__((cold)) int gompi_wrong_assert(int assert, int known, const char *names, struct gompi_verdict *v);

// Checks an assertion. Returns 0 or the verdict's class.
static inline int gompi_check_assert(int assert, int known, const char *names, struct gompi_verdict *v) {
	return __builtin_expect(assert & ~known, 0) ? gompi_wrong_assert(assert, known, names, v) : MPI_SUCCESS;
}

// Takes back what a call that changes the epoch at once has changed, since it has failed.
void gompi_epoch_undo(struct gompi_win *w, enum gompi_epoch_call call);

#pragma GCC visibility pop
#endif
