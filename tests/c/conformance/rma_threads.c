/* Proves: with MPI_THREAD_MULTIPLE several threads of each rank put, get and accumulate in one lock_all epoch, and each
 *   thread calls flush for its own operations. No update is lost, and each thread reads back the values that it wrote.
 *   Tests every window kind. MPI-5.0 12.7, 11.6
 * np: 1 2 4
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <pthread.h>

enum { THREADS = 3, TIMES = 60, SLOTS = 16 };

static struct window *window;

static void *work(void *argument) {
	struct window *w = window;
	int thread = (int)(intptr_t)argument, n = w->n;
	int64_t one = 1, values[SLOTS], got[SLOTS], old, last = -1;
	MPI_Aint mine = 8 + (MPI_Aint)(w->rank * THREADS + thread) * SLOTS;
	for (int time = 0; time < TIMES; time++) {
		int t = (w->rank + time) % n;
		for (int i = 0; i < SLOTS; i++)
			values[i] = w->rank * 1000000 + thread * 10000 + time * 100 + i, got[i] = -1;
		MPI_Put(values, SLOTS, MPI_INT64_T, t, window_at(w, t, mine), SLOTS, MPI_INT64_T, w->win);
		MPI_Accumulate(&one, 1, MPI_INT64_T, t, window_at(w, t, 0), 1, MPI_INT64_T, MPI_SUM, w->win);
		MPI_Win_flush(t, w->win);
		MPI_Get(got, SLOTS, MPI_INT64_T, t, window_at(w, t, mine), SLOTS, MPI_INT64_T, w->win);
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window_at(w, 0, 1), MPI_SUM, w->win);
		MPI_Win_flush_all(w->win);
		CHECK(memcmp(values, got, sizeof values) == 0, "%s window: thread %d read back %lld, not %lld", w->name,
		      thread, (long long)got[0], (long long)values[0]);
		CHECK(old > last, "%s window: thread %d fetched %d behind %d", w->name, thread, (int)old, (int)last);
		last = old;
	}
	return NULL;
}

static void body(struct window *w) {
	pthread_t threads[THREADS];
	int64_t *mem = w->mem;
	window = w;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	CHECK(mem[0] == THREADS * TIMES, "%s window: %d of %d accumulates", w->name, (int)mem[0], THREADS * TIMES);
	if (w->rank == 0)
		CHECK(mem[1] == THREADS * TIMES * w->n, "%s window: %d of %d tickets", w->name, (int)mem[1],
		      THREADS * TIMES * w->n);
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	windows_each(8 * (8 + (MPI_Aint)check_size * THREADS * SLOTS), 8, MPI_COMM_WORLD, body);
	return check_end();
}
