/* Times one-sided operations, as loop.h describes. Measurements use windows of MPI_Win_allocate, or windows of
 * MPI_Win_create over malloc memory if their names begin with m_. */
#include "loop.h"

#include <malloc.h>
#include <stdint.h>

enum { BULK = 1 << 20, VECTOR = 1024, BATCH = 1024, LOCK_ALL = USER };

static int target; /* rank 1, or 0 if there is one rank */
static MPI_Win win = MPI_WIN_NULL;
static char *base;    /* this rank's window memory */
static char *mapped;  /* the target's memory in a shared window, for loops that access it without MPI */
static void *heap;    /* the malloc memory of the window */
static double *local; /* origin memory */
static MPI_Datatype vector, record, gap;
static MPI_Group other;

/* --- windows */

/* Returns the size of origin and window buffers in bytes. It suffices for an element of the vector datatype, for BULK
 * bytes, and for `bytes`, the size that the command line requests. */
static long room(void) { return bytes > 2 * BULK ? bytes : 2 * BULK; }

static void origin_memory(void) {
	local = memory(room());
	for (int i = 0; i < BULK / 8; i++)
		local[i] = 1e-9 * i;
}

static void allocated(void) {
	origin_memory();
	MPI_Win_allocate(room(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, room());
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Creates a window over malloc memory. Sets malloc's mmap threshold so that each buffer gets pages of its own. By
 * default, malloc raises the threshold when a large buffer is freed. The kind of memory would then depend on earlier
 * measurements. */
static void over_malloc(void) {
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	origin_memory();
	heap = malloc(room());
	memset(heap, 0, room());
	MPI_Win_create(heap, room(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void) {
	MPI_Aint length;
	int unit;
	origin_memory();
	MPI_Win_allocate_shared(room(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, room());
	MPI_Win_shared_query(win, target, &length, &unit, &mapped);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void no_window(void) {
	heap = malloc(bytes);
	memset(heap, 0, bytes);
}

static void release(void) {
	if (win != MPI_WIN_NULL)
		MPI_Win_free(&win);
	free(heap);
	free(local);
	heap = NULL;
	local = NULL;
}

/* --- the timed functions: each runs its operation n times */

/* Issues puts without completing them; the end of the epoch completes them. */
static void put(long n) {
	for (long i = 0; i < n; i++)
		MPI_Put(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
}

static void get(long n) {
	for (long i = 0; i < n; i++)
		MPI_Get(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
}

static void acc(long n) {
	static int64_t one = 1;
	for (long i = 0; i < n; i++)
		MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
}

static void fop(long n) {
	static int64_t one = 1, old;
	for (long i = 0; i < n; i++)
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, 0, MPI_SUM, win);
}

static void cas(long n) {
	static int64_t one = 1, zero, old;
	for (long i = 0; i < n; i++)
		MPI_Compare_and_swap(&one, &zero, &old, MPI_INT64_T, target, 0, win);
}

static void flush(long n) {
	for (long i = 0; i < n; i++)
		MPI_Win_flush(target, win);
}

static void lock_unlock(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
		MPI_Win_unlock(target, win);
	}
}

static void fence(long n) {
	for (long i = 0; i < n; i++)
		MPI_Win_fence(0, win);
}

static void put8(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
		if (i % BATCH == BATCH - 1)
			MPI_Win_flush(target, win);
	}
	MPI_Win_flush(target, win);
}

/* Issues BUNCH small puts before each flush, as some applications do. */
enum { BUNCH = 64 };
static void put_bunch(long n) {
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < BUNCH; k++)
			MPI_Put(local + k, 8, MPI_BYTE, target, 8 * k, 8, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void put_flush(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
		MPI_Win_flush(target, win);
	}
}

static void get_flush(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Get(local, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
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

/* Puts one element of a datatype of 4 contiguous doubles, as applications define for their grid points. */
static void put_record(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 1, record, target, 0, 1, record, win);
		MPI_Win_flush(target, win);
	}
}

static void get_record(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Get(local, 1, record, target, 0, 1, record, win);
		MPI_Win_flush(target, win);
	}
}

static void acc_record(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Accumulate(local, 1, record, target, 0, 1, record, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

/* Puts one element of a datatype of two doubles with a gap between them. */
static void put_gap(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Put(local, 1, gap, target, 0, 1, gap, win);
		MPI_Win_flush(target, win);
	}
}

static void acc_vector(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Accumulate(local, 1, vector, target, 0, 1, vector, MPI_SUM, win);
		MPI_Win_flush(target, win);
	}
}

/* Copies from origin to window memory with memcpy. bench/compare compares puts with this speed of the hardware. */
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

static void lock_fop_unlock(long n) /* all ranks concurrently lock rank 0 */
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

static void pscw(long n) /* ranks 0 and 1 are both origin and target */
{
	if (rank > 1)
		return;
	for (long i = 0; i < n; i++) {
		MPI_Win_post(other, 0, win);
		MPI_Win_start(other, 0, win);
		MPI_Put(local, 8, MPI_BYTE, size > 1 ? 1 - rank : 0, 0, 8, MPI_BYTE, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
}

/* Creates and frees windows of BYTES. */
static void allocate(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
		MPI_Win_free(&win);
	}
}

static void create(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Win_create(heap, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_free(&win);
	}
}

/* --- the table */

static const struct measurement measurements[] = {
	{"put", allocated, put, ORIGIN | LOCK_ALL, 0, 0},
	{"get", allocated, get, ORIGIN | LOCK_ALL, 0, 0},
	{"acc", allocated, acc, ORIGIN | LOCK_ALL, 0, 0},
	{"fop", allocated, fop, ORIGIN | LOCK_ALL, 0, 0},
	{"cas", allocated, cas, ORIGIN | LOCK_ALL, 0, 0},
	{"flush", allocated, flush, ORIGIN | LOCK_ALL, 0, 0},
	{"lock_unlock", allocated, lock_unlock, ORIGIN, 0, 0},
	{"fence", allocated, fence, 0, 0, 0},
	{"put8", allocated, put8, ORIGIN | LOCK_ALL, 0, 0},
	{"put_bunch", allocated, put_bunch, ORIGIN | LOCK_ALL, BUNCH, 0},
	{"put_flush", allocated, put_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"get_flush", allocated, get_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"acc8_flush", allocated, acc8_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"fop_flush", allocated, fop_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"cas_flush", allocated, cas_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"memcpy_1m", shared, memcpy_1m, ORIGIN | LOCK_ALL, 0, 0},
	{"acc_1m", allocated, acc_1m, ORIGIN | LOCK_ALL, 0, 0},
	{"loop_1m", shared, loop_1m, ORIGIN | LOCK_ALL, 0, 0},
	{"put_vector", allocated, put_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"get_vector", allocated, get_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"acc_vector", allocated, acc_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"put_record", allocated, put_record, ORIGIN | LOCK_ALL, 0, 0},
	{"get_record", allocated, get_record, ORIGIN | LOCK_ALL, 0, 0},
	{"acc_record", allocated, acc_record, ORIGIN | LOCK_ALL, 0, 0},
	{"put_gap", allocated, put_gap, ORIGIN | LOCK_ALL, 0, 0},
	{"lock_put_unlock", allocated, lock_put_unlock, ORIGIN, 0, 0},
	{"lock_fop_unlock", allocated, lock_fop_unlock, 0, 2, 0},
	{"fence_put", allocated, fence_put, 0, 0, 0},
	{"pscw", allocated, pscw, 0, 0, 0},
	{"allocate", NULL, allocate, 0, 0, 0},
	{"create", no_window, create, 0, 0, 0},
	{"m_put_flush", over_malloc, put_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"m_get_flush", over_malloc, get_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"m_acc8_flush", over_malloc, acc8_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"m_fop_flush", over_malloc, fop_flush, ORIGIN | LOCK_ALL, 0, 0},
	{"m_fop_first", over_malloc, fop_flush, ORIGIN | LOCK_ALL | IDLE, 0, 100},
	{"m_fop_later", over_malloc, fop_flush, ORIGIN | LOCK_ALL | IDLE, 0, 0},
	{"m_acc_1m", over_malloc, acc_1m, ORIGIN | LOCK_ALL, 0, 0},
	{"m_put_vector", over_malloc, put_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"m_get_vector", over_malloc, get_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"m_acc_vector", over_malloc, acc_vector, ORIGIN | LOCK_ALL, 0, 0},
	{"m_lock_put_unlock", over_malloc, lock_put_unlock, ORIGIN, 0, 0},
	{"m_fence_put", over_malloc, fence_put, 0, 0, 0},
	{"m_pscw", over_malloc, pscw, 0, 0, 0},
};

static void before(const struct measurement *m) {
	if (m->how & LOCK_ALL)
		MPI_Win_lock_all(0, win);
}

static void after(const struct measurement *m) {
	if (m->how & LOCK_ALL)
		MPI_Win_unlock_all(win);
}

static void begin(void) {
	target = size > 1;
	MPI_Type_vector(VECTOR, 1, 2, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	MPI_Type_contiguous(4, MPI_DOUBLE, &record);
	MPI_Type_commit(&record);
	MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gap);
	MPI_Type_commit(&gap);
	if (rank < 2) {
		MPI_Group world;
		int partner = size > 1 ? 1 - rank : 0;
		MPI_Comm_group(MPI_COMM_WORLD, &world);
		MPI_Group_incl(world, 1, &partner, &other);
		MPI_Group_free(&world);
	}
}

static void finish(void) {
	MPI_Type_free(&vector);
	MPI_Type_free(&record);
	MPI_Type_free(&gap);
	if (rank < 2)
		MPI_Group_free(&other);
}

int main(int argc, char **argv) {
	static const struct program rma = {
		"rma", measurements, sizeof measurements / sizeof *measurements, release, before, after, 0};
	return measure(&rma, argc, argv, begin, finish);
}
