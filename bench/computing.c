/* Times operations on a target that computes and makes no MPI call. The target computes in SPELLS phases of SPELL
 * seconds each. The origin measures one operation in each phase, and begins it HEAD_START seconds after its start.
 *
 *     PROGRAM NAME...    put, get, acc, fop, cas, lock_put_unlock; prints one line for each: name value unit */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPELLS = 3 };
static const double SPELL = 1.0, HEAD_START = 0.1; /* seconds */

static MPI_Win win;
static int64_t one = 1, zero, old;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void compute(double seconds) {
	volatile double x = 1;
	for (double end = now() + seconds; now() < end;)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void put(void) { MPI_Put(&one, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win); }
static void get(void) { MPI_Get(&old, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win); }
static void acc(void) { MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win); }
static void fop(void) { MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, win); }
static void cas(void) { MPI_Compare_and_swap(&one, &zero, &old, MPI_INT64_T, 1, 0, win); }
static void lock_put_unlock(void) {
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	put();
	MPI_Win_unlock(1, win);
}

static const struct {
	const char *name;
	void (*operation)(void);
	int locks; /* the operation locks the window itself */
} operations[] = {{"put", put, 0}, {"get", get, 0}, {"acc", acc, 0},
		  {"fop", fop, 0}, {"cas", cas, 0}, {"lock_put_unlock", lock_put_unlock, 1}};

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(const char *name, void (*operation)(void), int locks) {
	double seconds[SPELLS];
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && !locks)
		MPI_Win_lock_all(0, win);
	if (rank == 0) { /* establishes connections before the measurement */
		operation();
		if (!locks)
			MPI_Win_flush(1, win);
	}
	for (int i = 0; i < SPELLS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			compute(SPELL);
		if (rank != 0)
			continue;
		double begin = now();
		while (now() - begin < HEAD_START)
			;
		begin = now();
		operation();
		if (!locks)
			MPI_Win_flush(1, win);
		seconds[i] = now() - begin;
	}
	if (rank != 0)
		return;
	if (!locks)
		MPI_Win_unlock_all(win);
	qsort(seconds, SPELLS, sizeof *seconds, ascending);
	printf("%s %.2f ns\n", name, 1e9 * seconds[SPELLS / 2]);
	fflush(stdout);
}

int main(int argc, char **argv) {
	void *base;
	MPI_Init(&argc, &argv);
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, 64);
	for (int a = 1; a < argc; a++) {
		size_t i = 0;
		while (i < sizeof operations / sizeof *operations && strcmp(operations[i].name, argv[a]) != 0)
			i++;
		if (i == sizeof operations / sizeof *operations) {
			fprintf(stderr, "computing: no operation \"%s\"\n", argv[a]);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		measure(argv[a], operations[i].operation, operations[i].locks);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
