/* Proves: while a thread creates and frees windows whose memory is shared in place (gompirma_share_in_place), other
 *   threads can read and write that memory. No reader sees wrong contents, and no store is lost. MPI-5.0 12.2.1
 * np: 1 2
 * args: read write
 * ref: mpich
 * timeout: 60
 */
#include "../in_place.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 64 * PAGE, CYCLES = 150, THREADS = 2 };

static unsigned char *mem;
static _Atomic int stop;
static long rounds[THREADS];

/* Checks repeatedly that all bytes have the value that they were filled with. */
static void *reader(void *arg) {
	long *n = arg;
	while (!atomic_load(&stop)) {
		for (size_t i = 0; i < SIZE; i += 61)
			if (*(volatile unsigned char *)&mem[i] != in_place_byte(check_rank, i, 1)) {
				CHECK(0, "byte %zu is %d while windows come and go", i, mem[i]);
				return NULL;
			}
		++*n;
	}
	return NULL;
}

/* Counts in one word of each page. No other thread uses these words. */
static void *writer(void *arg) {
	long *n = arg, slot = n - rounds;
	while (!atomic_load(&stop)) {
		for (size_t page = 0; page < SIZE / PAGE; page++) {
			volatile uint64_t *word = (volatile uint64_t *)(mem + page * PAGE + (size_t)slot * 64);
			if (*word != (uint64_t)*n) {
				CHECK(0, "page %zu: the last store was %ld, there is %llu", page, *n,
				      (unsigned long long)*word);
				return NULL;
			}
			*word = (uint64_t)*n + 1;
		}
		++*n;
	}
	return NULL;
}

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	check_started(argc, argv);
	int write = strcmp(check_arg, "write") == 0;
	pthread_t threads[THREADS];
	mem = aligned_alloc(PAGE, SIZE);
	memset(mem, 0, SIZE);
	if (!write)
		in_place_fill(mem, SIZE, check_rank, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write ? writer : reader, &rounds[i]);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		MPI_Win win = in_place_window(mem + (cycle % 3) * PAGE,
					      SIZE - 7 * (cycle % 2) * PAGE - (cycle % 3) * PAGE, 1);
		CHECK_SHARED(win, "true");
		MPI_Win_free(&win);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(rounds[i] > 0, "thread %d did nothing", i);
	}
	free(mem);
	return check_end();
}
