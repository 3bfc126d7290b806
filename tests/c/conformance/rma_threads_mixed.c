/* Proves: with MPI_THREAD_MULTIPLE the threads of a rank can do different things at once. flush: one thread flushes
 *   while the other threads put and accumulate. locks: each thread locks other targets of the same window. requests:
 *   each thread waits for its own requests. windows: each thread uses its own window, with fences or locks. epochs: one
 *   thread does post-start-complete-wait on a window while the other threads use other windows. Tests every window
 *   kind. MPI-5.0 12.7, 11.6
 * np: 1 2 4
 * args: flush locks requests windows epochs
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, TIMES = 40, SLOTS = 20, PER_RANK = THREADS * SLOTS + 8 };

static struct window *window;
static MPI_Win others[THREADS];
static int64_t *memories[THREADS];
static MPI_Comm comms[THREADS];
static atomic_int putting;

static void fill(int64_t *values, int thread, int time) {
	for (int i = 0; i < SLOTS; i++)
		values[i] = window->rank * 1000000 + thread * 100000 + time * 100 + i;
}

static MPI_Aint slot(int target, int thread) {
	return window_at(window, target, 8 + (MPI_Aint)(window->rank * THREADS + thread) * SLOTS);
}

/* Flushes in a loop in thread 0 until the other threads are done. The other threads put and read back, and some of them
 * also flush. */
static void flush(int thread) {
	struct window *w = window;
	int64_t values[SLOTS], got[SLOTS], one = 1;
	MPI_Datatype L = MPI_INT64_T;
	if (thread == 0) {
		while (atomic_load(&putting) > 0) {
			MPI_Win_flush_all(w->win);
			MPI_Win_flush_local(0, w->win);
			MPI_Win_flush(w->n - 1, w->win);
		}
		return;
	}
	for (int time = 0; time < TIMES; time++) {
		int t = (w->rank + time) % w->n;
		fill(values, thread, time);
		MPI_Accumulate(values, SLOTS, L, t, slot(t, thread), SLOTS, L, MPI_REPLACE, w->win);
		MPI_Accumulate(&one, 1, L, t, window_at(w, t, 0), 1, L, MPI_SUM, w->win);
		MPI_Get_accumulate(NULL, 0, L, got, SLOTS, L, t, slot(t, thread), SLOTS, L, MPI_NO_OP, w->win);
		MPI_Win_flush(t, w->win);
		CHECK(memcmp(values, got, sizeof got) == 0, "%s window: thread %d read back %lld, not %lld", w->name,
		      thread, (long long)got[0], (long long)values[0]);
		MPI_Put(values, SLOTS, L, t, slot(t, thread), SLOTS, L, w->win);
		if (time % 5 == 4)
			MPI_Win_flush(t, w->win);
	}
	atomic_fetch_sub(&putting, 1);
}

/* Locks targets that no other thread of this rank locks. The locks are exclusive, so that the sequence get, add, put is
 * atomic among ranks. */
static void locks(int thread) {
	struct window *w = window;
	MPI_Datatype L = MPI_INT64_T;
	for (int time = 0; time < TIMES / 2; time++)
		for (int t = thread; t < w->n; t += THREADS) {
			int64_t x = -1;
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
			MPI_Get(&x, 1, L, t, window_at(w, t, 0), 1, L, w->win);
			MPI_Win_flush(t, w->win);
			x++;
			MPI_Put(&x, 1, L, t, window_at(w, t, 0), 1, L, w->win);
			MPI_Win_unlock(t, w->win);
		}
}

static void requests(int thread) {
	struct window *w = window;
	MPI_Datatype L = MPI_INT64_T;
	int64_t values[SLOTS], got[SLOTS], old, one = 1;
	for (int time = 0; time < TIMES; time++) {
		int t = (w->rank + time + thread) % w->n, done = 0;
		MPI_Request r[3];
		fill(values, thread, time);
		MPI_Rput(values, SLOTS, L, t, slot(t, thread), SLOTS, L, w->win, r);
		MPI_Raccumulate(&one, 1, L, t, window_at(w, t, 0), 1, L, MPI_SUM, w->win, r + 1);
		MPI_Rget_accumulate(&one, 1, L, &old, 1, L, t, window_at(w, t, 1), 1, L, MPI_SUM, w->win, r + 2);
		if (time % 2)
			MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		else
			while (!done)
				MPI_Testall(3, r, &done, MPI_STATUSES_IGNORE);
		CHECK(old >= 0 && old < THREADS * TIMES * w->n, "%s window: fetched %lld", w->name, (long long)old);
		MPI_Win_flush(t, w->win);
		MPI_Rget(got, SLOTS, L, t, slot(t, thread), SLOTS, L, w->win, r);
		MPI_Wait(r, MPI_STATUS_IGNORE);
		CHECK(memcmp(values, got, sizeof got) == 0, "%s window: thread %d got %lld, not %lld", w->name, thread,
		      (long long)got[0], (long long)values[0]);
	}
}

/* Uses a window of its own in each thread: with fences in threads 0 and 1, with locks in thread 2. */
static void windows(int thread) {
	int n = window->n, me = window->rank, right = (me + 1) % n, left = (me + n - 1) % n;
	MPI_Win win = others[thread];
	int64_t *mem = memories[thread], value, one = 1;
	for (int time = 1; time <= TIMES; time++) {
		value = me * 1000 + time;
		if (thread < 2) {
			MPI_Win_fence(0, win);
			MPI_Put(&value, 1, MPI_INT64_T, right, time % 2, 1, MPI_INT64_T, win);
			MPI_Win_fence(0, win);
			CHECK(mem[time % 2] == left * 1000 + time, "thread %d: the fence brought %lld", thread,
			      (long long)mem[time % 2]);
		} else {
			MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
			MPI_Accumulate(&one, 1, MPI_INT64_T, right, 3, 1, MPI_INT64_T, MPI_SUM, win);
			MPI_Win_unlock(right, win);
		}
	}
}

/* Runs post-start-complete-wait on the window in thread 0, locks on a second window in thread 1, and fences on a third
 * in thread 2. */
static void epochs(int thread) {
	struct window *w = window;
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	int64_t *mem = w->mem, value;
	if (thread != 0) {
		windows(thread == 1 ? 2 : 1);
		return;
	}
	MPI_Group all, from, to;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &left, &from);
	MPI_Group_incl(all, 1, &right, &to);
	for (int time = 1; time <= TIMES; time++) {
		value = w->rank * 1000 + time;
		MPI_Win_post(from, 0, w->win);
		MPI_Win_start(to, 0, w->win);
		MPI_Put(&value, 1, MPI_INT64_T, right, window_at(w, right, 2), 1, MPI_INT64_T, w->win);
		MPI_Win_complete(w->win);
		MPI_Win_wait(w->win);
		CHECK(mem[2] == left * 1000 + time, "%s window: the epoch brought %lld, not %d", w->name,
		      (long long)mem[2], left * 1000 + time);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
}

static const struct {
	const char *name;
	void (*run)(int thread);
	int lock_all, times; /* lock_all: run in a lock_all epoch; times: additions of each rank to each element 0 */
} runs[] = {{"flush", flush, 1, 0},
	    {"locks", locks, 0, TIMES / 2},
	    {"requests", requests, 1, 0},
	    {"windows", windows, 0, 0},
	    {"epochs", epochs, 0, 0}};

static int which;

static void *thread_main(void *argument) {
	runs[which].run((int)(intptr_t)argument);
	return NULL;
}

static void body(struct window *w) {
	pthread_t threads[THREADS];
	int64_t *mem = w->mem;
	window = w;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	memset(mem, 0, w->size);
	MPI_Win_unlock(w->rank, w->win);
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(w->comm, &comms[i]);
		MPI_Win_allocate(64, 8, MPI_INFO_NULL, comms[i], &memories[i], &others[i]);
		memset(memories[i], 0, 64);
	}
	MPI_Barrier(w->comm);
	atomic_store(&putting, THREADS - 1);
	if (runs[which].lock_all)
		MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (runs[which].lock_all)
		MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	int want = strcmp(check_arg, "flush") == 0 ? 0 : runs[which].times * w->n;
	if (strcmp(check_arg, "locks") == 0)
		CHECK(mem[0] == want, "%s window: %lld additions under locks, not %d", w->name, (long long)mem[0],
		      want);
	if (strcmp(check_arg, "requests") == 0)
		CHECK(mem[0] == THREADS * TIMES && mem[1] == THREADS * TIMES, "%s window: %lld and %lld, not %d",
		      w->name, (long long)mem[0], (long long)mem[1], THREADS * TIMES);
	if (strcmp(check_arg, "flush") == 0)
		CHECK(mem[0] == (THREADS - 1) * TIMES, "%s window: %lld, not %d", w->name, (long long)mem[0],
		      (THREADS - 1) * TIMES);
	MPI_Win_unlock(w->rank, w->win);
	for (int i = 0; i < THREADS; i++) {
		if (i == 2 && (strcmp(check_arg, "windows") == 0 || strcmp(check_arg, "epochs") == 0)) {
			MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, others[i]);
			CHECK(memories[i][3] == TIMES, "the locked window has %lld, not %d", (long long)memories[i][3],
			      TIMES);
			MPI_Win_unlock(w->rank, others[i]);
		}
		if (i < 2)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, others[i]);
		MPI_Win_free(&others[i]);
		MPI_Comm_free(&comms[i]);
	}
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	for (which = 0; strcmp(runs[which].name, check_arg) != 0; which++)
		;
	windows_each(8 * (8 + (MPI_Aint)check_size * THREADS * SLOTS), 8, MPI_COMM_WORLD, body);
	return check_end();
}
