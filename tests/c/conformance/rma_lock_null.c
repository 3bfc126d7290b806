/* Proves: MPI_Win_unlock of MPI_PROC_NULL without a preceding MPI_Win_lock is MPI_ERR_RMA_SYNC and changes nothing.
 *   Locks of other ranks stay, and later epochs work. MPI_PROC_NULL may be locked more than once at a time, as programs
 *   do if neither neighbor exists. The lock epoch stays open until each of these locks is unlocked. Tests every window
 *   kind. MPI-5.0 12.3, 12.5.3
 * np: 1 2
 * args: alone beside twice all
 * ref: none (MPICH accepts any MPI_Win_unlock of MPI_PROC_NULL; Open MPI refuses to lock it)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

#define SYNC(call) check_is_class(__FILE__, __LINE__, #call, call, MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC")

static int value = 7;

/* Checks that no epoch is open: each kind can begin and end. */
static void epochs_work(struct window *w) {
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK_OK(MPI_Win_fence(0, w->win));
	CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
	CHECK_OK(MPI_Win_lock_all(0, w->win));
	CHECK_OK(MPI_Win_unlock_all(w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, w->win));
	CHECK_OK(MPI_Win_unlock(0, w->win));
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks that a lock epoch is open: no other epoch can begin. */
static void epoch_is_open(struct window *w) {
	SYNC(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_unlock_all(w->win));
	SYNC(MPI_Win_fence(0, w->win));
	SYNC(MPI_Win_free(&w->win));
}

static void alone(struct window *w) {
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	MPI_Win_fence(0, w->win);
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w->win));
	epoch_is_open(w);
	SYNC(MPI_Win_unlock(w->rank, w->win));
	CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
}

/* Unlocks MPI_PROC_NULL while another rank is locked. */
static void beside(struct window *w) {
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	CHECK_OK(MPI_Win_flush(0, w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
	CHECK_OK(MPI_Win_unlock(0, w->win));
	epoch_is_open(w);
	SYNC(MPI_Win_unlock(0, w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	epoch_is_open(w);
	CHECK_OK(MPI_Win_flush(0, w->win));
	CHECK_OK(MPI_Win_unlock(0, w->win));
}

static void twice(struct window *w) {
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, w->win));
	CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	epoch_is_open(w);
	CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
}

/* Checks that MPI_PROC_NULL cannot be locked in the epoch of MPI_Win_lock_all. */
static void all(struct window *w) {
	CHECK_OK(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
	CHECK_OK(MPI_Win_flush(w->rank, w->win));
	CHECK_OK(MPI_Win_unlock_all(w->win));
	SYNC(MPI_Win_unlock(MPI_PROC_NULL, w->win));
}

static void each(struct window *w) {
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	if (strcmp(check_arg, "alone") == 0)
		alone(w);
	if (strcmp(check_arg, "beside") == 0)
		beside(w);
	if (strcmp(check_arg, "twice") == 0)
		twice(w);
	if (strcmp(check_arg, "all") == 0)
		all(w);
	epochs_work(w);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(2 * sizeof(int), sizeof(int), MPI_COMM_WORLD, each);
	return check_end();
}
