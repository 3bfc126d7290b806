/* Times one-sided operations: mpi.h only, so the same file is built with every MPI. bench/compare runs it.
 *
 *     rma [--json] NAME...     measures what the names say; one line each: name value unit
 *     rma --list               prints the names
 *
 * A value is the median of REPETITIONS timed loops after a warm-up; the loops' length is chosen so that one takes about
 * LOOP_SECONDS. "allocated" windows come from MPI_Win_allocate, "malloc" ones (names with m_) from MPI_Win_create over
 * malloc memory. Where only rank 0 works, the others wait in a collective call, as a program that has nothing else to
 * do would. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 9, BULK = 1 << 20, VECTOR = 1024, BATCH = 1024 };
static const double LOOP_SECONDS = 0.010;

static int rank, size, target; /* target: rank 1, or 0 when alone */
static MPI_Win win;
static char *base;    /* own window memory */
static char *mapped;  /* the target's memory in a shared window, for the plain loops */
static void *heap;    /* what malloc gave for the window */
static double *local; /* BULK bytes of origin memory */
static MPI_Datatype vector;
static MPI_Group other;

/* --- windows
 * -------------------------------------------------------------------------------------------------------------------
 */

static void origin_memory(void) {
	if (posix_memalign((void **)&local, 64, BULK) != 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (int i = 0; i < BULK / 8; i++)
		local[i] = 1e-9 * i;
}

static void allocated(void) {
	origin_memory();
	MPI_Win_allocate(2 * BULK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, 2 * BULK);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void over_malloc(void) {
	origin_memory();
	heap = malloc(2 * BULK);
	memset(heap, 0, 2 * BULK);
	MPI_Win_create(heap, 2 * BULK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void) {
	MPI_Aint bytes;
	int unit;
	origin_memory();
	MPI_Win_allocate_shared(2 * BULK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, 2 * BULK);
	MPI_Win_shared_query(win, target, &bytes, &unit, &mapped);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void none(void) { win = MPI_WIN_NULL; }

static void release(void) {
	if (win != MPI_WIN_NULL)
		MPI_Win_free(&win);
	free(heap);
	free(local);
	heap = NULL;
	local = NULL;
}

/* --- what is timed: each does its operation n times
 * ------------------------------------------------------------------------------ */

static void put8(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
		if (i % BATCH == BATCH - 1)
			MPI_Win_flush(target, win);
	}
	MPI_Win_flush(target, win);
}

static void put8_flush(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void get8_flush(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Get(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void acc8_flush(long n) {
	int64_t one = 1;
	for (long i = 0; i < n; i++) {
		MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

static void fop_flush(long n) {
	int64_t one = 1, before;
	for (long i = 0; i < n; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

static void cas_flush(long n) {
	int64_t to, from, before;
	for (long i = 0; i < n; i++) {
		from = i;
		to = i + 1;
		MPI_Compare_and_swap(&to, &from, &before, MPI_INT64_T, target, 8, win);
		MPI_Win_flush(target, win);
	}
}

static void put_1m(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, BULK, MPI_BYTE, target, 0, BULK, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void get_1m(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Get(local, BULK, MPI_BYTE, target, 0, BULK, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void acc_1m(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Accumulate(local, BULK / 8, MPI_DOUBLE, target, 0, BULK / 8, MPI_DOUBLE, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

static void put_vector(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 1, vector, target, 0, 1, vector, win);
		MPI_Win_flush(target, win);
	}
}

static void get_vector(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Get(local, 1, vector, target, 0, 1, vector, win);
		MPI_Win_flush(target, win);
	}
}

static void acc_vector(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Accumulate(local, 1, vector, target, 0, 1, vector, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

/* The hardware's speed between the same two places. */
static void memcpy_1m(long n) {
	for (long i = 0; i < n; i++) {
		memcpy(mapped, local, BULK);
		__asm__ volatile("" : : "r"(mapped) : "memory");
	}
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
__attribute__((optimize("O3"))) static void
add(double *restrict to, const double *restrict from, long count) {
	for (long i = 0; i < count; i++)
		to[i] += from[i];
}

static void loop_1m(long n) {
	for (long i = 0; i < n; i++) {
		add((double *)mapped, local, BULK / 8);
		__asm__ volatile("" : : "r"(mapped) : "memory");
	}
}

static void lock_put_unlock(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
		MPI_Put(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
		MPI_Win_unlock(target, win);
	}
}

static void lock_fop_unlock(long n) /* by all ranks at once, on rank 0 */
{
	int64_t one = 1, before;
	for (long i = 0; i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win);
		MPI_Win_unlock(0, win);
	}
}

static void fence_put(long n) {
	int right = (rank + 1) % size;
	MPI_Win_fence(0, win);
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 8, MPI_BYTE, right, 0, 8, MPI_BYTE, win);
		MPI_Win_fence(0, win);
	}
}

static void pscw(long n) /* ranks 0 and 1, both ways */
{
	for (long i = 0; i < n; i++) {
		MPI_Win_post(other, 0, win);
		MPI_Win_start(other, 0, win);
		MPI_Put(local, 8, MPI_BYTE, 1 - rank, 0, 8, MPI_BYTE, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
}

static void barrier(long n) {
	for (long i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* --- the table
 * --------------------------------------------------------------------------------------------------------------------
 */

enum {
	ORIGIN = 1,
	LOCK_ALL = 2,
	THROUGHPUT = 4
}; /* only rank 0 works; inside lock_all; time per operation of any rank */

static const struct measurement {
	const char *name;
	void (*window)(void);
	void (*body)(long n);
	int how;
} measurements[] = {
	{"put8", allocated, put8, ORIGIN | LOCK_ALL},
	{"put8_flush", allocated, put8_flush, ORIGIN | LOCK_ALL},
	{"get8_flush", allocated, get8_flush, ORIGIN | LOCK_ALL},
	{"acc8_flush", allocated, acc8_flush, ORIGIN | LOCK_ALL},
	{"fop_flush", allocated, fop_flush, ORIGIN | LOCK_ALL},
	{"cas_flush", allocated, cas_flush, ORIGIN | LOCK_ALL},
	{"put_1m", allocated, put_1m, ORIGIN | LOCK_ALL},
	{"get_1m", allocated, get_1m, ORIGIN | LOCK_ALL},
	{"memcpy_1m", shared, memcpy_1m, ORIGIN | LOCK_ALL},
	{"acc_1m", allocated, acc_1m, ORIGIN | LOCK_ALL},
	{"loop_1m", shared, loop_1m, ORIGIN | LOCK_ALL},
	{"put_vector", allocated, put_vector, ORIGIN | LOCK_ALL},
	{"get_vector", allocated, get_vector, ORIGIN | LOCK_ALL},
	{"acc_vector", allocated, acc_vector, ORIGIN | LOCK_ALL},
	{"lock_put_unlock", allocated, lock_put_unlock, ORIGIN},
	{"lock_fop_unlock", allocated, lock_fop_unlock, THROUGHPUT},
	{"fence_put", allocated, fence_put, 0},
	{"pscw", allocated, pscw, 0},
	{"barrier", none, barrier, 0},
	{"m_put8_flush", over_malloc, put8_flush, ORIGIN | LOCK_ALL},
	{"m_get8_flush", over_malloc, get8_flush, ORIGIN | LOCK_ALL},
	{"m_acc8_flush", over_malloc, acc8_flush, ORIGIN | LOCK_ALL},
	{"m_fop_flush", over_malloc, fop_flush, ORIGIN | LOCK_ALL},
	{"m_put_1m", over_malloc, put_1m, ORIGIN | LOCK_ALL},
	{"m_acc_1m", over_malloc, acc_1m, ORIGIN | LOCK_ALL},
	{"m_put_vector", over_malloc, put_vector, ORIGIN | LOCK_ALL},
	{"m_get_vector", over_malloc, get_vector, ORIGIN | LOCK_ALL},
	{"m_acc_vector", over_malloc, acc_vector, ORIGIN | LOCK_ALL},
	{"m_lock_put_unlock", over_malloc, lock_put_unlock, ORIGIN},
	{"m_fence_put", over_malloc, fence_put, 0},
	{"m_pscw", over_malloc, pscw, 0},
};
enum { MEASUREMENTS = sizeof measurements / sizeof *measurements };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* One timed loop of n operations; seconds, on rank 0. Everybody leaves it together. */
static double timed(const struct measurement *m, long n) {
	double begin, seconds;
	MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	begin = now();
	if (rank == 0 || !(m->how & ORIGIN)) {
		if (m->how & LOCK_ALL)
			MPI_Win_lock_all(0, win);
		begin = now();
		m->body(n);
		seconds = now() - begin;
		if (m->how & LOCK_ALL)
			MPI_Win_unlock_all(win);
	} else {
		seconds = 0;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return seconds;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void run(const struct measurement *m, int json) {
	double seconds[REPETITIONS], value;
	long n = 1;
	int enough = 0;

	m->window();
	MPI_Type_vector(VECTOR, 1, 2, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	while (!enough) { /* warm-up, which also finds n */
		double s = timed(m, n);
		enough = s >= LOOP_SECONDS || n >= 1L << 30;
		MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (!enough)
			n = s > LOOP_SECONDS / 20 ? (long)(1.2 * n * LOOP_SECONDS / s) + 1 : 4 * n;
	}
	for (int i = 0; i < REPETITIONS; i++)
		seconds[i] = timed(m, n);
	release();
	MPI_Type_free(&vector);
	if (rank != 0)
		return;
	qsort(seconds, REPETITIONS, sizeof *seconds, ascending);
	value = 1e9 * seconds[REPETITIONS / 2] / n;
	if (m->how & THROUGHPUT)
		value /= size;
	if (json)
		printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"ns\", \"ranks\": %d, \"loops\": %ld}\n",
		       m->name, value, size, n);
	else
		printf("%s %.2f ns\n", m->name, value);
	fflush(stdout);
}

int main(int argc, char **argv) {
	int json = 0;
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (int i = 0; i < MEASUREMENTS; i++)
			puts(measurements[i].name);
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	target = size > 1;
	if (size > 1 && rank < 2) {
		MPI_Group world;
		int partner = 1 - rank;
		MPI_Comm_group(MPI_COMM_WORLD, &world);
		MPI_Group_incl(world, 1, &partner, &other);
		MPI_Group_free(&world);
	}
	for (int a = 1; a < argc; a++) {
		int i = 0;
		if (strcmp(argv[a], "--json") == 0) {
			json = 1;
			continue;
		}
		while (i < MEASUREMENTS && strcmp(argv[a], measurements[i].name) != 0)
			i++;
		if (i == MEASUREMENTS || (measurements[i].body == pscw && size != 2)) {
			if (rank == 0)
				fprintf(stderr, "rma: no measurement \"%s\" for %d ranks (rma --list)\n", argv[a],
					size);
			MPI_Finalize();
			return 2;
		}
		run(&measurements[i], json);
	}
	if (size > 1 && rank < 2)
		MPI_Group_free(&other);
	MPI_Finalize();
	return 0;
}
