/* Measures the benefit and the cost of sharing in place (gompirma_share_in_place), with two ranks. A result is the best
 * of many short batches, since other programs may use the machine.
 *
 *     gompirun -n 2 in_place
 *
 * There are four windows. The first is allocated by MPI. The second is malloc memory, which operations access by system
 * calls and through the ring. The third is malloc memory shared in place. The fourth is like the third, but its first
 * and last partial pages are private. Prints one line for each window and operation, in ns per call, and then the cost
 * of MPI_Win_create and MPI_Win_free for 16 MiB, in us per MiB. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, SIZE = 4 * MIB, BATCHES = 60 };

static MPI_Win win;
static char *buffer;
static MPI_Aint at = 8192;
static int64_t one = 1, got;

static void put8(void) { MPI_Put(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win); }
static void get8(void) { MPI_Get(&got, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win); }
static void acc8(void) { MPI_Accumulate(&one, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, MPI_SUM, win); }
static void fop(void) { MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 1, at, MPI_SUM, win); }
static void put1m(void) { MPI_Put(buffer, MIB, MPI_BYTE, 1, at, MIB, MPI_BYTE, win); }
static void put_all(void) { MPI_Put(buffer, SIZE, MPI_BYTE, 1, 0, SIZE, MPI_BYTE, win); }

static const struct {
	const char *name;
	void (*call)(void);
	int calls; /* number of calls in a batch */
} operations[] = {{"put 8 B", put8, 1000},     {"get 8 B", get8, 1000}, {"accumulate 8 B", acc8, 1000},
		  {"fetch_and_op", fop, 1000}, {"put 1 MiB", put1m, 5}, {"put 4 MiB, all of it", put_all, 2}};

static void measure(const char *window, int rank) {
	for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
		double best = 1e9;
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Win_lock_all(0, win);
			for (int b = 0; b < BATCHES; b++) {
				double t = MPI_Wtime();
				for (int i = 0; i < operations[o].calls; i++) {
					operations[o].call();
					MPI_Win_flush(1, win);
				}
				t = (MPI_Wtime() - t) / operations[o].calls;
				best = t < best ? t : best;
			}
			MPI_Win_unlock_all(win);
			printf("%-22s %-22s %10.1f ns\n", window, operations[o].name, best * 1e9);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void create_and_free(MPI_Info info, const char *name, int rank) {
	size_t size = 16 * MIB;
	char *mem = malloc(size);
	double best[2] = {1e9, 1e9};
	for (int i = 0; i < 10; i++) {
		memset(mem, i, size);
		MPI_Barrier(MPI_COMM_WORLD);
		double t0 = MPI_Wtime();
		MPI_Win_create(mem, (MPI_Aint)size, 1, info, MPI_COMM_WORLD, &win);
		double t1 = MPI_Wtime();
		MPI_Barrier(MPI_COMM_WORLD);
		double t2 = MPI_Wtime();
		MPI_Win_free(&win);
		double t3 = MPI_Wtime();
		best[0] = t1 - t0 < best[0] ? t1 - t0 : best[0];
		best[1] = t3 - t2 < best[1] ? t3 - t2 : best[1];
	}
	if (rank == 0)
		printf("%-22s MPI_Win_create %.1f us, MPI_Win_free %.1f us for each of 16 MiB\n", name,
		       best[0] * 1e6 / 16, best[1] * 1e6 / 16);
	free(mem);
}

int main(int argc, char **argv) {
	int rank;
	MPI_Info on;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&on);
	MPI_Info_set(on, "gompirma_share_in_place", "true");
	buffer = malloc(SIZE);
	memset(buffer, 1, SIZE);
	char *mem;
	MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	memset(mem, 0, SIZE);
	measure("allocate", rank);
	MPI_Win_free(&win);
	const struct {
		const char *name;
		MPI_Info info;
		int offset;
	} windows[] = {{"malloc", MPI_INFO_NULL, 0}, {"in place", on, 0}, {"in place, private ends", on, 32}};
	for (int w = 0; w < 3; w++) {
		mem = malloc(SIZE + 64);
		memset(mem, 0, SIZE + 64);
		MPI_Win_create(mem + windows[w].offset, SIZE, 1, windows[w].info, MPI_COMM_WORLD, &win);
		measure(windows[w].name, rank);
		MPI_Win_free(&win);
		free(mem);
	}
	create_and_free(MPI_INFO_NULL, "malloc", rank);
	create_and_free(on, "in place", rank);
	MPI_Info_free(&on);
	free(buffer);
	MPI_Finalize();
	return 0;
}
