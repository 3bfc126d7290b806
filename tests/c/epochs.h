/* Four functions that hide the kind of synchronization, so that a test of an operation is written once and runs with
 * each kind.
 *
 *   epoch_open(sync, w);                 collective; makes earlier local stores visible; operations may follow
 *     epoch_target(sync, w, t);          before operations on target t
 *     epoch_target_done(sync, w, t);     after the operations on target t; see epoch_reusable
 *   epoch_close(sync, w);                collective; all operations of all ranks are complete at all targets; local
 *                                        loads may follow
 */
#ifndef EPOCHS_H
#define EPOCHS_H

#include "windows.h"

enum {
	SYNC_FENCE,
	SYNC_PSCW,            /* post, start, complete, wait with the group of all ranks */
	SYNC_LOCK,            /* exclusive lock and unlock of each target */
	SYNC_LOCK_SHARED,     /* shared lock and unlock of each target */
	SYNC_LOCK_ALL,        /* lock_all; unlock_all; no flush between them */
	SYNC_FLUSH,           /* lock_all; flush of each target; unlock_all */
	SYNC_FLUSH_ALL,       /* lock_all; one flush_all; unlock_all */
	SYNC_FLUSH_LOCAL,     /* lock_all; flush_local of each target; unlock_all */
	SYNC_FLUSH_LOCAL_ALL, /* lock_all; flush_local_all after each target; unlock_all */
	SYNCS
};

static const char *const sync_name[SYNCS] = {"fence", "pscw",      "lock",        "lock_shared",    "lock_all",
					     "flush", "flush_all", "flush_local", "flush_local_all"};

/* Returns the synchronization with this name. Reports an error and returns -1 if the name is unknown. */
static inline int epoch_named(const char *name) {
	for (int s = 0; s < SYNCS; s++)
		if (strcmp(name, sync_name[s]) == 0)
			return s;
	CHECK(0, "no synchronization is called '%s'; try fence, pscw, lock, flush ...", name);
	return -1;
}

/* Returns true if epoch_target_done completes operations locally. Then the origin buffers may be overwritten, and the
 * results of fetching calls may be read. */
static inline int epoch_reusable(int sync) {
	return sync != SYNC_FENCE && sync != SYNC_PSCW && sync != SYNC_LOCK_ALL && sync != SYNC_FLUSH_ALL;
}

/* Makes this rank's stores visible to remote operations, and the effects of remote operations visible to this rank's
 * loads. Must be called outside of any epoch. */
static inline void epoch_publish(struct window *w) {
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_unlock(w->rank, w->win);
}

static inline void epoch_open(int sync, struct window *w) {
	MPI_Group group;
	switch (sync) {
	case SYNC_FENCE:
		MPI_Win_fence(0, w->win);
		return;
	case SYNC_PSCW:
		MPI_Win_get_group(w->win, &group);
		MPI_Win_post(group, 0, w->win);
		MPI_Win_start(group, 0, w->win);
		MPI_Group_free(&group);
		return;
	default:
		epoch_publish(w);
		MPI_Barrier(w->comm);
		if (sync != SYNC_LOCK && sync != SYNC_LOCK_SHARED)
			MPI_Win_lock_all(0, w->win);
	}
}

static inline void epoch_target(int sync, struct window *w, int target) {
	if (sync == SYNC_LOCK || sync == SYNC_LOCK_SHARED)
		MPI_Win_lock(sync == SYNC_LOCK ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win);
}

static inline void epoch_target_done(int sync, struct window *w, int target) {
	switch (sync) {
	case SYNC_LOCK:
	case SYNC_LOCK_SHARED:
		MPI_Win_unlock(target, w->win);
		break;
	case SYNC_FLUSH:
		MPI_Win_flush(target, w->win);
		break;
	case SYNC_FLUSH_LOCAL:
		MPI_Win_flush_local(target, w->win);
		break;
	case SYNC_FLUSH_LOCAL_ALL:
		MPI_Win_flush_local_all(w->win);
		break;
	}
}

static inline void epoch_close(int sync, struct window *w) {
	switch (sync) {
	case SYNC_FENCE:
		MPI_Win_fence(0, w->win);
		return;
	case SYNC_PSCW:
		MPI_Win_complete(w->win);
		MPI_Win_wait(w->win);
		return;
	case SYNC_FLUSH_ALL:
		MPI_Win_flush_all(w->win);
		/* fallthrough */
	case SYNC_FLUSH:
		MPI_Barrier(w->comm);
		MPI_Win_sync(w->win);
		MPI_Win_unlock_all(w->win);
		return;
	case SYNC_LOCK_ALL:
	case SYNC_FLUSH_LOCAL:
	case SYNC_FLUSH_LOCAL_ALL:
		MPI_Win_unlock_all(w->win);
		break;
	}
	MPI_Barrier(w->comm);
	epoch_publish(w);
}

#endif
