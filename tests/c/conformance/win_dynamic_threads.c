/* Proves: threads of a rank can lock, accumulate to two adjacent attached regions, and unlock, without disturbing each
 *   other. Each thread has its own window, or all threads use one window. On one window, threads lock the same target
 *   one after another, never at the same time. One thread may lock a target and another thread unlock it, and some
 *   epochs are empty. MPI-5.0 12.2.4, 12.5.3
 * np: 2 4
 * nodes: 4
 * args: windows turns hands
 * env: GOMPIRMA_TEST_ROUNDS=40
 * ref: mpich
 * timeout: 120
 *
 * For a soak test run many rounds: GOMPIRMA_TEST_ROUNDS=100000 gompirun -n 4 --nodes 4 PROGRAM turns
 */
#include "../check.h"
#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 4, LONGS = 256, TARGETS = 64 };

struct window {
	MPI_Win win;
	long *memory;
	MPI_Aint at[TARGETS];
};
static struct window windows[THREADS];
static int rounds;
static pthread_mutex_t turn[TARGETS];
static pthread_barrier_t together;
static sem_t unlocked[THREADS];
static const long ones[LONGS] = {[0 ... LONGS - 1] = 1};

static void open_window(struct window *w) {
	MPI_Aint mine;
	CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w->win));
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	w->memory = calloc(2 * LONGS, sizeof(long));
	CHECK_OK(MPI_Win_attach(w->win, w->memory, LONGS * sizeof(long)));
	CHECK_OK(MPI_Win_attach(w->win, w->memory + LONGS, LONGS * sizeof(long)));
	MPI_Get_address(w->memory, &mine);
	MPI_Allgather(&mine, 1, MPI_AINT, w->at, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void close_window(struct window *w) {
	CHECK_OK(MPI_Win_detach(w->win, w->memory));
	CHECK_OK(MPI_Win_detach(w->win, w->memory + LONGS));
	CHECK_OK(MPI_Win_free(&w->win));
	free(w->memory);
}

static int draw(unsigned *seed, int n) { return (int)((*seed = *seed * 1103515245 + 12345) >> 8) % n; }

static void lock(struct window *w, int target, unsigned *seed) {
	CHECK_OK(MPI_Win_lock(draw(seed, 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w->win));
}

/* Adds 1 to at most 255 longs across the border between the regions. Returns their number. */
static long add(struct window *w, int target, unsigned *seed) {
	int n = 1 + draw(seed, LONGS - 1), before = draw(seed, n + 1);
	CHECK_OK(MPI_Accumulate(ones, n, MPI_LONG, target, w->at[target] + (LONGS - before) * (MPI_Aint)sizeof(long), n,
				MPI_LONG, MPI_SUM, w->win));
	return n;
}

static long with_own_window(int me, unsigned *seed) {
	long added = 0;
	for (int i = 0; i < rounds; i++) {
		int target = draw(seed, check_size);
		lock(&windows[me], target, seed);
		if (draw(seed, 4) != 0)
			added += add(&windows[me], target, seed);
		CHECK_OK(MPI_Win_unlock(target, windows[me].win));
	}
	return added;
}

static long in_turns(unsigned *seed) {
	long added = 0;
	for (int i = 0; i < rounds; i++) {
		int target = draw(seed, check_size);
		pthread_mutex_lock(&turn[target]);
		lock(&windows[0], target, seed);
		for (int k = draw(seed, 3); k > 0; k--)
			added += add(&windows[0], target, seed);
		CHECK_OK(MPI_Win_unlock(target, windows[0].win));
		pthread_mutex_unlock(&turn[target]);
	}
	return added;
}

/* Locks one target per round in each thread. After a barrier each thread unlocks the target that the next thread has
 * locked, while the next thread continues to lock. The locks are shared, because with exclusive locks several ranks
 * would deadlock. */
static long from_hand_to_hand(int me, unsigned *seed) {
	long added = 0;
	for (int i = 0; i < rounds; i++) {
		int mine = (me + i) % THREADS, next = (me + i + 1) % THREADS;
		if (mine < check_size) {
			sem_wait(&unlocked[mine]);
			CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, mine, 0, windows[0].win));
			if (draw(seed, 3) == 0)
				added += add(&windows[0], mine, seed);
		}
		pthread_barrier_wait(&together);
		if (next < check_size) {
			CHECK_OK(MPI_Win_unlock(next, windows[0].win));
			sem_post(&unlocked[next]);
		}
	}
	return added;
}

static void *run(void *arg) {
	int me = (int)(intptr_t)arg;
	unsigned seed = (unsigned)(check_rank * THREADS + me + 1);
	long *added = malloc(sizeof *added);
	*added = strcmp(check_arg, "windows") == 0 ? with_own_window(me, &seed)
		 : strcmp(check_arg, "turns") == 0 ? in_turns(&seed)
						   : from_hand_to_hand(me, &seed);
	return added;
}

int main(int argc, char **argv) {
	int n;
	pthread_t thread[THREADS];
	long added = 0, here = 0, sum[2], all[2];
	check_begin_threads(&argc, &argv);
	const char *times = getenv("GOMPIRMA_TEST_ROUNDS");
	rounds = times != NULL ? atoi(times) : 40;
	n = strcmp(check_arg, "windows") == 0 ? THREADS : 1;
	for (int i = 0; i < TARGETS; i++)
		pthread_mutex_init(&turn[i], NULL);
	for (int i = 0; i < THREADS; i++)
		sem_init(&unlocked[i], 0, 1);
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < n; i++)
		open_window(&windows[i]);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *its;
		pthread_join(thread[i], &its);
		added += *(long *)its;
		free(its);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, windows[i].win));
		for (int k = 0; k < 2 * LONGS; k++)
			here += windows[i].memory[k];
		CHECK_OK(MPI_Win_unlock(check_rank, windows[i].win));
	}
	sum[0] = added, sum[1] = here;
	MPI_Allreduce(sum, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	CHECK(all[0] == all[1], "%ld were added, %ld are there", all[0], all[1]);
	for (int i = 0; i < n; i++)
		close_window(&windows[i]);
	return check_end();
}
