/* Creates a window, uses it once and ends. Every RMA job does at least this much. bench/compare times the whole launch.
 *
 *     startup            no output
 *     startup memory     rank 0 prints the median of the ranks' private memory, as a line "memory VALUE KiB"
 *
 * Private memory is Private_Clean + Private_Dirty of /proc/self/smaps_rollup while the window exists. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long private_kib(void) {
	char line[256];
	long kib, sum = 0;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	if (f == NULL)
		return -1;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			sum += kib;
	fclose(f);
	return sum;
}

static int ascending(const void *a, const void *b) {
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	int rank, size;
	long *mine, value, kib, *all = NULL;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(4096, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	value = rank;
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
	if (*mine != (rank + size - 1) % size) {
		fprintf(stderr, "rank %d: %ld in the window\n", rank, *mine);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (argc > 1 && strcmp(argv[1], "memory") == 0) {
		kib = private_kib();
		all = malloc(size * sizeof *all);
		MPI_Gather(&kib, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		if (rank == 0) {
			qsort(all, size, sizeof *all, ascending);
			printf("memory %ld KiB\n", all[size / 2]);
		}
		free(all);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
