/* Creates an instance, uses all its features, and ends it, ROUNDS times. Uses messages of all lengths, blocking and
 * nonblocking collectives, and windows of two kinds with puts, gets, accumulates, locks and fences, by two threads.
 * Exits with 0, or reports an error. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int MPIX_Again(void);

enum { ROUNDS = 4, MANY = 100000 };

static int rank, size, round_, errors;

#define CHECK(cond, ...)                                                   \
	do                                                                 \
		if (!(cond)) {                                             \
			errors++;                                          \
			printf("rank %d, round %d: ", rank, round_);       \
			printf(__VA_ARGS__), printf("\n"), fflush(stdout); \
		}                                                          \
	while (0)

static void messages(void) {
	static int out[MANY], in[MANY];
	const int to = (rank + 1) % size, from = (rank + size - 1) % size;
	for (int n = 1; n <= MANY; n *= 10) {
		for (int i = 0; i < n; i++)
			out[i] = rank * 1000 + i + round_;
		MPI_Request r[2];
		MPI_Irecv(in, n, MPI_INT, from, n, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(out, n, MPI_INT, to, n, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		CHECK(in[0] == from * 1000 + round_ && in[n - 1] == from * 1000 + n - 1 + round_, "%d ints", n);
	}
}

static void collectives(void) {
	static long out[MANY], in[MANY];
	for (int n = 1; n <= MANY; n *= 10) {
		for (int i = 0; i < n; i++)
			out[i] = rank + i + round_;
		MPI_Allreduce(out, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		CHECK(in[n - 1] == (long)size * (n - 1 + round_) + size * (size - 1) / 2, "sum of %d: %ld", n,
		      in[n - 1]);
		MPI_Request r;
		MPI_Iallreduce(out, in, n, MPI_LONG, MPI_MAX, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK(in[n - 1] == size - 1 + n - 1 + round_, "maximum of %d: %ld", n, in[n - 1]);
	}
	MPI_Comm half;
	int members, all[64];
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_size(half, &members);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, half);
	for (int i = 0; i < members; i++)
		CHECK(all[i] == 2 * i + rank % 2, "member %d is %d", i, all[i]);
	MPI_Comm_free(&half);
}

static MPI_Win shared_by_threads;

static void *add(void *arg) {
	const long one = 1;
	for (int i = 0; i < 100; i++)
		for (int t = 0; t < size; t++) {
			MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, shared_by_threads);
			MPI_Win_flush(t, shared_by_threads);
		}
	return arg;
}

static void *adder(void *arg) {
	pthread_barrier_t *turn = arg;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(turn);
		add(NULL);
		pthread_barrier_wait(turn);
	}
	return NULL;
}

static void use(MPI_Win win, long *base, pthread_barrier_t *turn) {
	const int to = (rank + 1) % size;
	static long big[1000], back[1000];
	memset(base, 0, 1000 * sizeof *base);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 1000; i++)
		big[i] = rank + i + round_;
	MPI_Put(big, 1000, MPI_LONG, to, 0, 1000, MPI_LONG, win);
	MPI_Win_fence(0, win);
	MPI_Get(back, 1000, MPI_LONG, to, 0, 1000, MPI_LONG, win);
	MPI_Win_fence(0, win);
	CHECK(memcmp(big, back, sizeof big) == 0, "what was put comes back");
	base[0] = 0;
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock_all(0, win);
	shared_by_threads = win;
	pthread_barrier_wait(turn);
	add(NULL);
	pthread_barrier_wait(turn);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	CHECK(base[0] == 200L * size, "%ld was added, not %ld", base[0], 200L * size);
	MPI_Win_unlock(rank, win);
}

static void windows(pthread_barrier_t *turn) {
	MPI_Win win;
	long *base, *own = malloc(1000 * sizeof *own);
	MPI_Win_allocate(8000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	if (round_ % 2 == 0)
		use(win, base, turn);
	MPI_Win_free(&win);
	MPI_Win_create(own, 8000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (round_ % 2 == 1)
		use(win, own, turn);
	MPI_Win_free(&win);
	free(own);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_barrier_t turn;
	pthread_t other; /* a single thread that uses all instances */
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&other, NULL, adder, &turn);
	for (round_ = 0; round_ < ROUNDS; round_++) {
		messages();
		collectives();
		windows(&turn);
		if (round_ < ROUNDS - 1 && MPIX_Again() != 0)
			return 1;
	}
	pthread_join(other, NULL);
	int all;
	MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	if (rank == 0 && all == 0)
		printf("fine\n");
	return all != 0;
}
