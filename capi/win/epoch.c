#include "win/epoch.h"

#include <stdio.h>

// The calls that end an access epoch, indexed like gompi_access_name.
static const char *const end_calls[] = {
	NULL, "MPI_Win_fence", "MPI_Win_fence", "MPI_Win_complete", "MPI_Win_unlock", "MPI_Win_unlock_all",
};

// Returns the calls that begin an epoch which permits the call `call`, or NULL if `call` needs no access epoch.
static const char *begin_calls(enum gompi_epoch_call call, bool exposed) {
	switch (call) {
	case EPOCH_OPERATION:
		return exposed ? "MPI_Win_start or MPI_Win_lock" : "MPI_Win_fence, MPI_Win_start or MPI_Win_lock";
	case EPOCH_COMPLETE:
		return "MPI_Win_start";
	case EPOCH_UNLOCK:
		return "MPI_Win_lock";
	case EPOCH_UNLOCK_ALL:
		return "MPI_Win_lock_all";
	case EPOCH_FLUSH:
	case EPOCH_FLUSH_LOCAL:
	case EPOCH_FLUSH_ALL:
	case EPOCH_FLUSH_LOCAL_ALL:
		return "MPI_Win_lock or MPI_Win_lock_all";
	default:
		return NULL;
	}
}

// Writes the end of an error text: what to call before the call `call`, or instead of it.
static void write_remedy(char text[120], enum gompi_epoch_call call, uint32_t access, bool exposed) {
	const char *begin = begin_calls(call, exposed), *end = end_calls[gompi_access_index(access)];
	const bool is_end = call == EPOCH_COMPLETE || call == EPOCH_UNLOCK || call == EPOCH_UNLOCK_ALL;
	const bool ends_access = end != NULL && !gompi_epoch_permits(access, call);
	const bool ends_exposure = exposed && !gompi_epoch_table[call].exposure[true];
	text[0] = 0;
	if (begin != NULL && (end == NULL || (access & ACCESS_FENCE_OPEN)))
		snprintf(text, 120, ": call %s first", begin);
	else if (is_end)
		snprintf(text, 120, ": call %s instead", end);
	else if (begin != NULL)
		snprintf(text, 120, ": call %s, and then %s first", end, begin);
	else if (ends_access || ends_exposure)
		snprintf(text, 120, ": call %s%s%s first", ends_access ? end : "",
			 ends_access && ends_exposure ? " and " : "", ends_exposure ? "MPI_Win_wait" : "");
}

// Writes a text that names the open epochs. Returns the class of the error status.
static int report_wrong_epoch(struct gompi_win *w, enum gompi_epoch_call call, struct gompi_error_status *v) {
	const uint32_t access = gompi_load(&w->access);
	const bool exposed = gompi_load(&w->exposure) != 0;
	char remedy[120];
	write_remedy(remedy, call, access, exposed);
	snprintf(v->text, sizeof v->text, "%s%s%s", gompi_access_name[gompi_access_index(access)],
		 exposed ? ", and an exposure epoch has been open since MPI_Win_post" : "", remedy);
	return v->class = MPI_ERR_RMA_SYNC;
}

// Checks the conditions on the target that the call's row of the epoch table does not contain. Returns 0 or the class
// of the error status.
static int check_target(struct gompi_win *w, enum gompi_epoch_call call, int target, struct gompi_error_status *v) {
	if ((uint32_t)target >= w->n)
		return gompi_set_error(v, MPI_ERR_RANK, "rank is %d; valid ranks of the window are 0 to %u", target,
				       w->n - 1);
	uint32_t access = gompi_load(&w->access), state = gompi_load(&w->targets[target].state);
	switch (call) {
	case EPOCH_LOCK:
		if (state & TARGET_LOCKED)
			return gompi_set_error(
				v, MPI_ERR_RMA_SYNC,
				"this process already holds the lock of rank %d: call MPI_Win_unlock first", target);
		return MPI_SUCCESS;
	case EPOCH_UNLOCK:
	case EPOCH_FLUSH:
	case EPOCH_FLUSH_LOCAL:
		if ((access & ACCESS_LOCK) && !(state & TARGET_LOCKED))
			return gompi_set_error(
				v, MPI_ERR_RMA_SYNC,
				"this process holds locks of other ranks, but not of rank %d: call MPI_Win_lock first",
				target);
		return MPI_SUCCESS;
	case EPOCH_OPERATION:
		if (access != 0 && !(access & (ACCESS_EVERY_TARGET | ACCESS_FENCE_OPEN)) && !(state & TARGET_ACCESS))
			return gompi_set_error(v, MPI_ERR_RMA_SYNC, "%s, but does not include target %d",
					       gompi_access_name[gompi_access_index(access)], target);
		return MPI_SUCCESS;
	default:
		return MPI_SUCCESS;
	}
}

int gompi_epoch_check(struct gompi_win *w, enum gompi_epoch_call call, struct gompi_error_status *v) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	bool exposed = gompi_load(&w->exposure) != 0;
	if (!exposed && !row->exposure[0])
		return gompi_set_error(v, MPI_ERR_RMA_SYNC, "no exposure epoch is open: call MPI_Win_post first");
	if (!row->exposure[exposed] || !gompi_epoch_permits(gompi_load(&w->access), call))
		return report_wrong_epoch(w, call, v);
	return MPI_SUCCESS;
}

// Releases one lock of MPI_PROC_NULL. Returns false if this process holds no such lock.
static bool unlock_proc_null(struct gompi_win *w) {
	uint32_t locks = gompi_load(&w->proc_null_locks);
	while (locks > 0 && !gompi_cas_weak(&w->proc_null_locks, &locks, locks - 1))
		;
	return locks > 0;
}

int gompi_epoch_enter_slow(struct gompi_win *w, enum gompi_epoch_call call, int target, struct gompi_error_status *v) {
	const struct gompi_epoch_row *row = &gompi_epoch_table[call];
	if (target == MPI_PROC_NULL && call != EPOCH_LOCK && call != EPOCH_UNLOCK)
		return MPI_SUCCESS; // operations on MPI_PROC_NULL need no epoch and begin none
	if (row->target && target != MPI_PROC_NULL) {
		int rc = check_target(w, call, target, v);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (gompi_epoch_check(w, call, v) != MPI_SUCCESS)
		return v->class;
	if (target == MPI_PROC_NULL && call == EPOCH_UNLOCK && !unlock_proc_null(w))
		return gompi_set_error(
			v, MPI_ERR_RMA_SYNC,
			"this process holds locks of other ranks, but not of MPI_PROC_NULL: call MPI_Win_lock first");
	if (row->at_once && !gompi_epoch_transition(w, call))
		return report_wrong_epoch(w, call, v);
	if (target == MPI_PROC_NULL && call == EPOCH_LOCK)
		gompi_add(&w->proc_null_locks, 1);
	return MPI_SUCCESS;
}

void gompi_epoch_undo(struct gompi_win *w, enum gompi_epoch_call call) {
	gompi_epoch_transition(w, call == EPOCH_LOCK       ? EPOCH_UNLOCK
				  : call == EPOCH_LOCK_ALL ? EPOCH_UNLOCK_ALL
							   : EPOCH_COMPLETE);
}

int gompi_report_bad_assert(int assert, int accepted, const char *names, struct gompi_error_status *v) {
	// In Fortran, assert and info are both integers, so a program may have swapped them.
	const bool info = (uintptr_t)(unsigned)assert == (uintptr_t)MPI_INFO_NULL;
	return gompi_set_error(v, MPI_ERR_ASSERT, "assert is %d; the only valid bits are %s (together %d)%s", assert,
			       names, accepted, info ? ": the value is MPI_INFO_NULL; pass 0 for no assertion" : "");
}
