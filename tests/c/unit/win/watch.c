/* Proves: the watch of a window (win/watch.h) sees every communication and every synchronization call once, with its
 * target and with the class of its verdict, the refused ones and those that move nothing too; a window that is not
 * watched calls nobody. The window has one member, this process.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "group/group.h"
#include "rma/rma.h"
#include "rma/z_calls.h"
#include "win/watch.h"

enum { BYTES = 4096, LARGE = 200 };

static struct gompi_win *w;
static MPI_Win win;
static bool watched;

/* What the watch has seen since the last look. */
static struct {
	int number;
	int what; /* a gompi_kind, or a gompi_epoch_call behind SYNCHRONIZATION */
	int target, class;
} seen;
enum { SYNCHRONIZATION = 100 };

static void sees(struct gompi_win *at, int what, int target, int class) {
	CHECK(at == w, "another window");
	seen.number++;
	seen.what = what;
	seen.target = target;
	seen.class = class;
}
static void operation(struct gompi_win *at, const struct gompi_operation *o, int class) {
	sees(at, (int)o->kind, o->target, class);
}
static void synchronization(struct gompi_win *at, enum gompi_epoch_call call, int target, int class) {
	sees(at, SYNCHRONIZATION + (int)call, target, class);
}

static void check_seen(int line, const char *call, int class, int what, int target, int want) {
	CHECK(class == want, "line %d: %s: class %d, not %d", line, call, class, want);
	if (!watched)
		CHECK(seen.number == 0, "line %d: %s was seen, and nobody watches", line, call);
	else
		CHECK(seen.number == 1 && seen.what == what && seen.target == target && seen.class == want,
		      "line %d: %s was seen %d times, as %d for %d with class %d; not once as %d for %d with class %d",
		      line, call, seen.number, seen.what, seen.target, seen.class, what, target, want);
	seen.number = 0;
}

/* The call must return class, and the watch must have seen it once as what, for target, with that class. */
#define OPERATION(call, kind, target, class) check_seen(__LINE__, #call, call, kind, target, class)
#define SYNC(call, epoch_call, target, class) \
	check_seen(__LINE__, #call, call, SYNCHRONIZATION + (epoch_call), target, class)

static char *memory;
static long long origin[LARGE], result[LARGE], compare[LARGE];
static MPI_Request request;

#define T MPI_LONG_LONG
#define N MPI_PROC_NULL

/* Every form of every operation with n elements: at displacement disp of a target, with this outcome. */
static void operations(MPI_Count n, int target, MPI_Aint disp, int class) {
	MPI_Request *r = &request;
	int i = (int)n;
	OPERATION(gompi_put(origin, i, T, target, disp, i, T, win), RMA_PUT, target, class);
	OPERATION(gompi_put_c(origin, n, T, target, disp, n, T, win), RMA_PUT, target, class);
	OPERATION(gompi_put_c(origin, 8 * n, MPI_BYTE, target, disp, n, T, win), RMA_PUT, target, class);
	OPERATION(gompi_rput_c(origin, n, T, target, disp, n, T, win, r), RMA_PUT, target, class);
	OPERATION(gompi_get(result, i, T, target, disp, i, T, win), RMA_GET, target, class);
	OPERATION(gompi_get_c(result, n, T, target, disp, n, T, win), RMA_GET, target, class);
	OPERATION(gompi_rget_c(result, n, T, target, disp, n, T, win, r), RMA_GET, target, class);
	OPERATION(gompi_accumulate_c(origin, n, T, target, disp, n, T, MPI_SUM, win), RMA_ACCUMULATE, target, class);
	OPERATION(gompi_raccumulate_c(origin, n, T, target, disp, n, T, MPI_SUM, win, r), RMA_ACCUMULATE, target,
		  class);
	OPERATION(gompi_get_accumulate_c(origin, n, T, result, n, T, target, disp, n, T, MPI_SUM, win),
		  RMA_GET_ACCUMULATE, target, class);
	OPERATION(gompi_get_accumulate_c(NULL, 0, T, result, n, T, target, disp, n, T, MPI_NO_OP, win),
		  RMA_GET_ACCUMULATE, target, class);
	OPERATION(gompi_rget_accumulate_c(origin, n, T, result, n, T, target, disp, n, T, MPI_REPLACE, win, r),
		  RMA_GET_ACCUMULATE, target, class);
	if (n != 1)
		return;
	OPERATION(gompi_fetch_and_op(origin, result, T, target, disp, MPI_SUM, win), RMA_FETCH_AND_OP, target, class);
	OPERATION(gompi_fetch_and_op(NULL, result, T, target, disp, MPI_NO_OP, win), RMA_FETCH_AND_OP, target, class);
	OPERATION(gompi_compare_and_swap(origin, compare, result, T, target, disp, win), RMA_COMPARE_AND_SWAP, target,
		  class);
}

/* All of them in an epoch, of which a part may be refused. */
static void every_operation(void) {
	static const MPI_Count counts[] = {0, 1, 3, LARGE};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		operations(counts[i], 0, 0, MPI_SUCCESS);
		operations(counts[i], 0, 64, MPI_SUCCESS);
		operations(counts[i], N, 0, MPI_SUCCESS);
		operations(counts[i], 1, 0, MPI_ERR_RANK);
		operations(counts[i], 0, BYTES, counts[i] == 0 ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
	}
	operations(-1, 0, 0, MPI_ERR_COUNT);
}

static void no_request(void) {
	OPERATION(gompi_rput_c(origin, 1, T, 0, 0, 1, T, win, NULL), RMA_PUT, 0, MPI_ERR_ARG);
	OPERATION(gompi_rget_c(result, 1, T, 0, 0, 1, T, win, NULL), RMA_GET, 0, MPI_ERR_ARG);
	OPERATION(gompi_raccumulate_c(origin, 1, T, 0, 0, 1, T, MPI_SUM, win, NULL), RMA_ACCUMULATE, 0, MPI_ERR_ARG);
	OPERATION(gompi_rget_accumulate_c(origin, 1, T, result, 1, T, 0, 0, 1, T, MPI_SUM, win, NULL),
		  RMA_GET_ACCUMULATE, 0, MPI_ERR_ARG);
}

static void flushes(int one, int all) {
	SYNC(gompi_win_flush(0, win), EPOCH_FLUSH, 0, one);
	SYNC(gompi_win_flush_local(0, win), EPOCH_FLUSH_LOCAL, 0, one);
	SYNC(gompi_win_flush(1, win), EPOCH_FLUSH, 1, MPI_ERR_RANK);
	SYNC(gompi_win_flush_local(N, win), EPOCH_FLUSH_LOCAL, N, MPI_SUCCESS);
	SYNC(gompi_win_flush_all(win), EPOCH_FLUSH_ALL, GOMPI_ALL, all);
	SYNC(gompi_win_flush_local_all(win), EPOCH_FLUSH_LOCAL_ALL, GOMPI_ALL, all);
	SYNC(gompi_win_sync(win), EPOCH_SYNC, GOMPI_ALL, MPI_SUCCESS);
}

static void fences(void) {
	SYNC(gompi_win_fence(1 << 30, win), EPOCH_FENCE, GOMPI_ALL, MPI_ERR_ASSERT);
	SYNC(gompi_win_fence(0, win), EPOCH_FENCE, GOMPI_ALL, MPI_SUCCESS);
	operations(0, 0, 0, MPI_SUCCESS);
	SYNC(gompi_win_fence(MPI_MODE_NOPRECEDE, win), EPOCH_FENCE, GOMPI_ALL, MPI_SUCCESS);
	every_operation();
	flushes(MPI_ERR_RMA_SYNC, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_lock(MPI_LOCK_SHARED, 0, 0, win), EPOCH_LOCK, 0, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_lock_all(0, win), EPOCH_LOCK_ALL, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_fence(MPI_MODE_NOSUCCEED, win), EPOCH_FENCE_END, GOMPI_ALL, MPI_SUCCESS);
}

static void locks(int type, int assert) {
	SYNC(gompi_win_lock(99, 0, 0, win), EPOCH_LOCK, 0, MPI_ERR_LOCKTYPE);
	SYNC(gompi_win_lock(type, 0, 1 << 30, win), EPOCH_LOCK, 0, MPI_ERR_ASSERT);
	SYNC(gompi_win_lock(type, 1, 0, win), EPOCH_LOCK, 1, MPI_ERR_RANK);
	SYNC(gompi_win_unlock(0, win), EPOCH_UNLOCK, 0, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_lock(type, 0, assert, win), EPOCH_LOCK, 0, MPI_SUCCESS);
	SYNC(gompi_win_lock(type, 0, assert, win), EPOCH_LOCK, 0, MPI_ERR_RMA_SYNC);
	every_operation();
	flushes(MPI_SUCCESS, MPI_SUCCESS);
	SYNC(gompi_win_fence(0, win), EPOCH_FENCE, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_unlock(0, win), EPOCH_UNLOCK, 0, MPI_SUCCESS);
	SYNC(gompi_win_lock(type, N, 0, win), EPOCH_LOCK, N, MPI_SUCCESS);
	SYNC(gompi_win_unlock(N, win), EPOCH_UNLOCK, N, MPI_SUCCESS);
}

static void lock_alls(int assert) {
	SYNC(gompi_win_lock_all(1 << 30, win), EPOCH_LOCK_ALL, GOMPI_ALL, MPI_ERR_ASSERT);
	SYNC(gompi_win_unlock_all(win), EPOCH_UNLOCK_ALL, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_lock_all(assert, win), EPOCH_LOCK_ALL, GOMPI_ALL, MPI_SUCCESS);
	every_operation();
	no_request();
	flushes(MPI_SUCCESS, MPI_SUCCESS);
	SYNC(gompi_win_unlock_all(win), EPOCH_UNLOCK_ALL, GOMPI_ALL, MPI_SUCCESS);
}

/* The group of this process, and one that is none. */
static MPI_Group group, no_group = (MPI_Group)0x5002;

static void pscw(void) {
	int flag = 0;
	SYNC(gompi_win_post(no_group, 0, win), EPOCH_POST, GOMPI_ALL, MPI_ERR_GROUP);
	SYNC(gompi_win_post(group, 1 << 30, win), EPOCH_POST, GOMPI_ALL, MPI_ERR_ASSERT);
	SYNC(gompi_win_start(no_group, 0, win), EPOCH_START, GOMPI_ALL, MPI_ERR_GROUP);
	SYNC(gompi_win_start(group, 1 << 30, win), EPOCH_START, GOMPI_ALL, MPI_ERR_ASSERT);
	SYNC(gompi_win_complete(win), EPOCH_COMPLETE, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_wait(win), EPOCH_WAIT, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	SYNC(gompi_win_test(win, &flag), EPOCH_TEST, GOMPI_ALL, MPI_ERR_RMA_SYNC);
	for (int time = 0; time < 2; time++) {
		SYNC(gompi_win_post(group, 0, win), EPOCH_POST, GOMPI_ALL, MPI_SUCCESS);
		SYNC(gompi_win_post(group, 0, win), EPOCH_POST, GOMPI_ALL, MPI_ERR_RMA_SYNC);
		SYNC(gompi_win_start(group, 0, win), EPOCH_START, GOMPI_ALL, MPI_SUCCESS);
		SYNC(gompi_win_start(group, 0, win), EPOCH_START, GOMPI_ALL, MPI_ERR_RMA_SYNC);
		every_operation();
		SYNC(gompi_win_test(win, NULL), EPOCH_TEST, GOMPI_ALL, MPI_ERR_ARG);
		SYNC(gompi_win_test(win, &flag), EPOCH_TEST, GOMPI_ALL, MPI_SUCCESS);
		CHECK(!flag, "MPI_Win_test: all have completed");
		SYNC(gompi_win_complete(win), EPOCH_COMPLETE, GOMPI_ALL, MPI_SUCCESS);
		if (time == 0) {
			SYNC(gompi_win_wait(win), EPOCH_WAIT, GOMPI_ALL, MPI_SUCCESS);
		} else {
			SYNC(gompi_win_test(win, &flag), EPOCH_TEST, GOMPI_ALL, MPI_SUCCESS);
			CHECK(flag, "MPI_Win_test: nobody has completed");
		}
	}
}

static void all(void) {
	operations(1, 0, 0, MPI_ERR_RMA_SYNC);
	operations(0, 0, 0, MPI_ERR_RMA_SYNC);
	flushes(MPI_ERR_RMA_SYNC, MPI_ERR_RMA_SYNC);
	fences();
	locks(MPI_LOCK_SHARED, 0);
	locks(MPI_LOCK_EXCLUSIVE, 0);
	locks(MPI_LOCK_EXCLUSIVE, MPI_MODE_NOCHECK);
	lock_alls(0);
	lock_alls(MPI_MODE_NOCHECK);
	pscw();
}

int main(void) {
	static const struct gompi_watch watch = {operation, synchronization};
	unit_node(1);
	unit_types();
	struct gompi_ranks self = {.n = 1, .first = gompi_node.self, .stride = 1};
	CHECK(gompi_group_keep("test", &self, &group) == MPI_SUCCESS, "no group");
	memory = unit_memory(BYTES);
	for (int i = 0; i < 4; i++) {
		watched = i % 2;
		gompi_node.policy.oversubscribed = i / 2;
		w = unit_window(1, memory, BYTES, true);
		win = (MPI_Win)w->handle;
		if (watched)
			gompi_watch(w, &watch);
		all();
	}
	return unit_end();
}
