/* Proves: a series of operations on ordinary memory does not wake the target's threads for each operation while the
 *   target waits in a call. The target's threads go to sleep less than once per two operations. This also holds if both
 *   ranks share one core, where polling for the next operation would delay the origin. Repeats the series many times,
 *   and passes if one repetition meets the limit, because other programs may disturb the other repetitions. The
 *   standard does not require this; gompirma promises it
 * np: 2
 * args: core cores paused
 * ref: none (MPICH and Open MPI wait by polling, or do not progress)
 * env: GOMPIRMA_SHARE_IN_PLACE=0
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../check.h"
#include <dirent.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { SERIES = 500, EACH = 20, PAUSE_US = 100 };

/* Returns how often the threads of a process have gone to sleep in total. */
static long sleeps(int pid) {
	char path[300], line[200];
	long all = 0, n;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *d; tasks && (d = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/status", pid, d->d_name);
		FILE *f = fopen(path, "r");
		while (f && fgets(line, sizeof line, f))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
				all += n;
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return all;
}

static void pause_us(int us) {
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000L + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

int main(int argc, char **argv) {
	int one_core = argc > 1 && strcmp(argv[1], "core") == 0, paused = argc > 1 && strcmp(argv[1], "paused") == 0,
	    cpus;
	cpu_set_t all, first;
	sched_getaffinity(0, sizeof all, &all);
	cpus = CPU_COUNT(&all);
	CPU_ZERO(&first);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &first);
	if (one_core) /* must precede MPI_Init: the library's threads inherit the affinity mask */
		sched_setaffinity(0, sizeof first, &first);
	check_begin(&argc, &argv);
	long *memory = calloc(8, sizeof *memory), one = 1, result, fewest = -1, sent = 0;
	int pid = (int)getpid();
	MPI_Win win;
	MPI_Win_create(memory, 8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (check_rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		nanosleep(&(struct timespec){0, 5000000}, NULL); /* waits until rank 0 sleeps in the barrier */
		for (int i = 0; i < SERIES && (fewest < 0 || fewest >= EACH / 2); i++) {
			MPI_Fetch_and_op(&one, &result, MPI_LONG, 0, 0, MPI_SUM, win);
			sent++;
			long before = sleeps(pid);
			for (int k = 0; k < EACH; k++, sent++) {
				if (paused)
					pause_us(PAUSE_US);
				MPI_Fetch_and_op(&one, &result, MPI_LONG, 0, 0, MPI_SUM, win);
				MPI_Win_flush(0, win);
				CHECK(result == sent, "%ld before operation %ld", result, sent);
			}
			long now = sleeps(pid) - before;
			if (fewest < 0 || now < fewest)
				fewest = now;
		}
		MPI_Win_unlock(0, win);
		/* Not checked on a machine with one core, because threads poll only briefly if there are fewer cores
		 * than ranks. */
		CHECK(fewest < EACH / 2 || cpus < 2,
		      "the target went to sleep %ld times in a series of %d operations, in the best of %d", fewest,
		      EACH, SERIES);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	free(memory);
	return check_end();
}
