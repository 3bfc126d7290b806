/* Runs one operation in loops of LOOPS and of twice as many, each between two signals by which bench/icount knows what
 * to count.
 *
 *     instructions empty|put8|flush|get8|acc8|fop|cas
 *
 * Two ranks, an allocated window, the target is rank 1 inside a barrier. "flush" is a flush with nothing pending behind
 * it; "empty" is the loop alone, to see what of a count is the loop's own. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LOOPS = 100 };

static void marked(void (*body)(long n), long n) {
	raise(SIGUSR2);
	body(n);
	raise(SIGUSR2);
}

static MPI_Win win;
static int target;
static int64_t one = 1, before, zero;

static void empty(long n) {
	for (long i = 0; i < n; i++)
		__asm__ volatile("" : : : "memory");
}
static void put8(long n) {
	for (long i = 0; i < n; i++)
		MPI_Put(&one, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
}
static void flush(long n) {
	for (long i = 0; i < n; i++)
		MPI_Win_flush(target, win);
}
static void get8(long n) {
	for (long i = 0; i < n; i++)
		MPI_Get(&before, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
}
static void acc8(long n) {
	for (long i = 0; i < n; i++)
		MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
}
static void fop(long n) {
	for (long i = 0; i < n; i++)
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, win);
}
static void cas(long n) {
	for (long i = 0; i < n; i++)
		MPI_Compare_and_swap(&one, &zero, &before, MPI_INT64_T, target, 0, win);
}

static const struct {
	const char *name;
	void (*body)(long n);
} operations[] = {{"empty", empty}, {"put8", put8}, {"flush", flush}, {"get8", get8},
		  {"acc8", acc8},   {"fop", fop},   {"cas", cas}};

int main(int argc, char **argv) {
	int rank, size;
	int64_t *base;
	void (*body)(long n) = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++)
		if (argc > 1 && strcmp(argv[1], operations[i].name) == 0)
			body = operations[i].body;
	if (body == NULL) {
		fprintf(stderr, "usage: instructions empty|put8|flush|get8|acc8|fop|cas\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	target = size > 1;
	MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	if (rank == 0) {
		MPI_Win_lock_all(0, win);
		body(LOOPS); /* warm: symbols bound, lazy work done */
		MPI_Win_flush(target, win);
		marked(body, LOOPS);
		MPI_Win_flush(target, win);
		marked(body, 2 * LOOPS);
		MPI_Win_unlock_all(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
