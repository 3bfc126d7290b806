// All ranks access each other's windows and compare the results, for the given number of seconds: busy SECONDS.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 20000 };

static int rank, size;

static void must(int right, const char *what, long round) {
	if (right)
		return;
	fprintf(stderr, "rank %d, round %ld: %s\n", rank, round, what);
	MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 1);
	long *memory, *data = malloc(2 * WORDS * sizeof *data), *back = data + WORDS;
	MPI_Win window;
	MPI_Win_allocate((WORDS + 2) * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &window);
	for (int i = 0; i < WORDS + 2; i++)
		memory[i] = 0;
	printf("rank %d begins\n", rank);
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	int to = (rank + 1) % size, more = 1;
	long one = 1, old, rounds = 0;
	MPI_Win_lock_all(0, window);
	for (; more; rounds++) {
		for (int i = 0; i < WORDS; i++)
			data[i] = rounds * 1000003 + rank * 1009 + i;
		MPI_Put(data, WORDS, MPI_LONG, to, 2, WORDS, MPI_LONG, window);
		MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
		MPI_Win_flush(to, window);
		MPI_Get(back, WORDS, MPI_LONG, to, 2, WORDS, MPI_LONG, window);
		MPI_Fetch_and_op(&one, &old, MPI_LONG, to, 1, MPI_SUM, window);
		MPI_Win_flush_all(window);
		must(old == rounds, "a counter that only this rank counts is wrong", rounds);
		for (int i = 0; i < WORDS; i++)
			must(back[i] == data[i], "what was put is not what is there", rounds);
		int mine = MPI_Wtime() < end;
		MPI_Allreduce(&mine, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
	must(rank != 0 || memory[0] == rounds * size, "the sum of all is wrong", rounds);
	MPI_Win_unlock(rank, window);
	if (rank == 0)
		printf("fine after %ld rounds\n", rounds);
	MPI_Win_free(&window);
	free(data);
	MPI_Finalize();
	return 0;
}
