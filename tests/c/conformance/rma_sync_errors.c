/* Proves: calls that the current epoch does not allow return MPI_ERR_RMA_SYNC, move no data and change nothing. The
 *   epoch stays open, and later correct calls work. Tests every window kind. MPI-5.0 12.5, 12.6
 * np: 1 2 3
 * args: none fence pscw lock lock_all free
 * ref: mpich
 * ref-wrong: lock (MPICH allows under a lock access to other targets)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

#define SYNC(call) check_is_class(__FILE__, __LINE__, #call, call, MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC")

static int value = 7, result = -1;

/* Checks that the current epoch allows no operation on `target`: each operation returns MPI_ERR_RMA_SYNC. */
static void no_access(struct window *w, int target) {
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Datatype I = MPI_INT;
	SYNC(MPI_Put(&value, 1, I, target, window_at(w, target, 0), 1, I, w->win));
	SYNC(MPI_Get(&result, 1, I, target, window_at(w, target, 0), 1, I, w->win));
	SYNC(MPI_Accumulate(&value, 1, I, target, window_at(w, target, 0), 1, I, MPI_SUM, w->win));
	SYNC(MPI_Get_accumulate(&value, 1, I, &result, 1, I, target, window_at(w, target, 0), 1, I, MPI_SUM, w->win));
	SYNC(MPI_Fetch_and_op(&value, &result, I, target, window_at(w, target, 0), MPI_SUM, w->win));
	SYNC(MPI_Compare_and_swap(&value, &value, &result, I, target, window_at(w, target, 0), w->win));
	SYNC(MPI_Rput(&value, 1, I, target, window_at(w, target, 0), 1, I, w->win, &r));
	SYNC(MPI_Rget(&result, 1, I, target, window_at(w, target, 0), 1, I, w->win, &r));
	SYNC(MPI_Raccumulate(&value, 1, I, target, window_at(w, target, 0), 1, I, MPI_SUM, w->win, &r));
	SYNC(MPI_Rget_accumulate(&value, 1, I, &result, 1, I, target, window_at(w, target, 0), 1, I, MPI_SUM, w->win,
				 &r));
}

static void no_flush(struct window *w, int target) {
	SYNC(MPI_Win_flush(target, w->win));
	SYNC(MPI_Win_flush_local(target, w->win));
}

static void no_flush_all(struct window *w) {
	SYNC(MPI_Win_flush_all(w->win));
	SYNC(MPI_Win_flush_local_all(w->win));
}

static void outside(struct window *w) {
	int flag = 0;
	no_access(w, w->rank);
	no_access(w, (w->rank + 1) % w->n);
	no_flush(w, 0);
	no_flush_all(w);
	SYNC(MPI_Win_unlock(w->rank, w->win));
	SYNC(MPI_Win_unlock_all(w->win));
	SYNC(MPI_Win_complete(w->win));
	SYNC(MPI_Win_wait(w->win));
	SYNC(MPI_Win_test(w->win, &flag));
}

static void in_fence(struct window *w) {
	int right = (w->rank + 1) % w->n, put = 100 + w->rank;
	MPI_Win_fence(0, w->win);
	CHECK_OK(MPI_Put(&put, 1, MPI_INT, right, window_at(w, right, 1), 1, MPI_INT, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
	SYNC(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_unlock(w->rank, w->win));
	SYNC(MPI_Win_unlock_all(w->win));
	SYNC(MPI_Win_complete(w->win));
	SYNC(MPI_Win_wait(w->win));
	no_flush(w, right);
	no_flush_all(w);
	CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
	CHECK(((int *)w->mem)[1] == 100 + (w->rank + w->n - 1) % w->n, "%s window: the fence moved %d", w->name,
	      ((int *)w->mem)[1]);
	outside(w); /* after NOSUCCEED no epoch is open */
}

static void in_pscw(struct window *w) {
	int zero = 0, flag;
	MPI_Group all, first;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &zero, &first);
	if (w->rank == 0) {
		CHECK_OK(MPI_Win_post(all, 0, w->win));
		SYNC(MPI_Win_post(all, 0, w->win));
		no_access(w, 0); /* an exposure epoch allows no access */
		SYNC(MPI_Win_complete(w->win));
		SYNC(MPI_Win_fence(0, w->win));
	}
	CHECK_OK(MPI_Win_start(first, 0, w->win));
	SYNC(MPI_Win_start(first, 0, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	SYNC(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_fence(0, w->win));
	SYNC(MPI_Win_unlock(0, w->win));
	no_flush(w, 0);
	no_flush_all(w);
	if (w->n > 1)
		no_access(w, 1); /* rank 1 is not in the group of MPI_Win_start */
	if (w->rank != 0) {
		SYNC(MPI_Win_wait(w->win));
		SYNC(MPI_Win_test(w->win, &flag));
	}
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, window_at(w, 0, 2 + w->rank), 1, MPI_INT, w->win));
	CHECK_OK(MPI_Win_complete(w->win));
	no_access(w, 0);
	SYNC(MPI_Win_complete(w->win));
	if (w->rank == 0) {
		CHECK_OK(MPI_Win_wait(w->win));
		SYNC(MPI_Win_wait(w->win));
		for (int i = 0; i < w->n; i++)
			CHECK(((int *)w->mem)[2 + i] == 7, "%s window: rank %d's put left %d", w->name, i,
			      ((int *)w->mem)[2 + i]);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&first);
}

static void in_lock(struct window *w) {
	int right = (w->rank + 1) % w->n;
	MPI_Group all;
	MPI_Win_get_group(w->win, &all);
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
	SYNC(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_unlock_all(w->win));
	SYNC(MPI_Win_start(all, 0, w->win));
	SYNC(MPI_Win_complete(w->win));
	SYNC(MPI_Win_fence(0, w->win));
	if (w->n > 1) {
		no_access(w, w->rank); /* this rank is not the locked target */
		no_flush(w, w->rank);
		SYNC(MPI_Win_unlock(w->rank, w->win));
	}
	CHECK_OK(MPI_Win_flush(right, w->win));
	CHECK_OK(MPI_Win_flush_all(w->win));
	CHECK_OK(MPI_Win_unlock(right, w->win));
	outside(w);
	MPI_Group_free(&all);
}

static void in_lock_all(struct window *w) {
	MPI_Group all;
	MPI_Win_get_group(w->win, &all);
	CHECK_OK(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	SYNC(MPI_Win_unlock(0, w->win));
	SYNC(MPI_Win_start(all, 0, w->win));
	SYNC(MPI_Win_complete(w->win));
	SYNC(MPI_Win_fence(0, w->win));
	CHECK_OK(MPI_Win_flush(0, w->win));
	CHECK_OK(MPI_Win_flush_all(w->win));
	CHECK_OK(MPI_Win_unlock_all(w->win));
	outside(w);
	MPI_Group_free(&all);
}

/* Checks that MPI_Win_free with an open epoch is refused and that the window stays usable. */
static void in_free(struct window *w) {
	MPI_Group all;
	MPI_Win win = w->win;
	MPI_Win_get_group(w->win, &all);
	CHECK_OK(MPI_Win_lock_all(0, w->win));
	SYNC(MPI_Win_free(&win));
	CHECK(win == w->win, "%s window: a refused MPI_Win_free changed the handle", w->name);
	CHECK_OK(MPI_Win_unlock_all(w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
	SYNC(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_unlock(0, w->win));
	CHECK_OK(MPI_Win_post(all, 0, w->win));
	SYNC(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_start(all, 0, w->win));
	SYNC(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_complete(w->win));
	CHECK_OK(MPI_Win_wait(w->win));
	CHECK_OK(MPI_Win_fence(0, w->win));
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, w->rank, window_at(w, w->rank, 1), 1, MPI_INT, w->win));
	SYNC(MPI_Win_free(&win));
	CHECK_OK(MPI_Win_fence(0, w->win));
	MPI_Group_free(&all);
}

static void body(struct window *w) {
	static const struct {
		const char *name;
		void (*run)(struct window *w);
	} runs[] = {{"none", outside}, {"fence", in_fence},       {"pscw", in_pscw},
		    {"lock", in_lock}, {"lock_all", in_lock_all}, {"free", in_free}};
	int *mem = w->mem;
	result = -1;
	mem[0] = 4242;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	MPI_Barrier(w->comm);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		if (strcmp(check_arg, runs[i].name) == 0)
			runs[i].run(w);
	MPI_Barrier(w->comm);
	CHECK(mem[0] == 4242, "%s window: a refused operation wrote %d", w->name, mem[0]);
	CHECK(result == -1, "%s window: a refused operation fetched %d", w->name, result);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
