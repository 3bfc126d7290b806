/* Proves: large puts, gets, messages and collectives move exactly their bytes while the other process waits, computes,
 *   sends and receives other messages, or transfers data itself. Sizes are around powers of two, and odd. MPI-5.0 3.4,
 *   6, 12.3
 * np: 2
 * args: waits works threads both
 * ref: mpich openmpi
 * timeout: 60
 */
#include "../check.h"

#include <pthread.h>
#include <stdbool.h>

enum { MOST = (5 << 20) + 7, GUARD = 64, ROUNDS = 3, SMALL_MESSAGES = 300 };

static const int sizes[] = {65535,           65536,           65537,         131073,           262144,
			    (512 << 10) - 1, (512 << 10) + 1, (1 << 20) + 3, (2 << 20) + 4097, MOST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static unsigned char *mine, *window_memory;
static MPI_Win win;
static int other;

static unsigned char pattern(int i, int seed) { return (unsigned char)(i * 7 + (i >> 8) * 13 + (i >> 16) + seed); }

static void fill(unsigned char *p, int n, int seed) {
	for (int i = 0; i < n; i++)
		p[i] = pattern(i, seed);
	memset(p + n, 0xa5, GUARD);
}

static void verify(const char *what, const unsigned char *p, int n, int seed) {
	for (int i = 0; i < n + GUARD; i++) {
		unsigned char expected = i < n ? pattern(i, seed) : 0xa5;
		if (p[i] != expected) {
			CHECK(0, "%s of %d bytes: byte %d is %d, not %d", what, n, i, p[i], expected);
			return;
		}
	}
}

static void compute(void) {
	double end = MPI_Wtime() + 0.001;
	while (MPI_Wtime() < end)
		;
}

/* Tests puts and gets while the other rank is in MPI_Barrier, or computes first. */
static void test_windows(bool computes) {
	for (int k = 0; k < SIZES * ROUNDS; k++) {
		int n = sizes[k % SIZES], active = k / SIZES % 2;
		fill(window_memory, n, k);
		MPI_Barrier(MPI_COMM_WORLD);
		if (check_rank == active) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
			memset(mine, 0xa5, MOST + GUARD);
			MPI_Get(mine, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
			MPI_Win_flush(other, win);
			verify("get", mine, n, k);
			fill(mine, n, k + 1);
			MPI_Put(mine, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
			MPI_Win_unlock(other, win);
		} else if (computes) {
			compute();
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (check_rank != active) {
			MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
			verify("put", window_memory, n, k + 1);
			MPI_Win_unlock(check_rank, win);
		}
	}
}

static void test_messages(bool computes) {
	for (int k = 0; k < SIZES * ROUNDS; k++) {
		int n = sizes[k % SIZES], sender = k / SIZES % 2;
		if (computes && (k & 1) == check_rank)
			compute();
		if (check_rank == sender) {
			fill(mine, n, k);
			MPI_Send(mine, n, MPI_BYTE, other, 1, MPI_COMM_WORLD);
			MPI_Ssend(mine, n, MPI_BYTE, other, 2, MPI_COMM_WORLD);
			verify("sent message", mine, n, k);
		} else {
			for (int tag = 1; tag <= 2; tag++) {
				memset(mine, 0xa5, MOST + GUARD);
				MPI_Recv(mine, MOST, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				verify("message", mine, n, k);
			}
		}
	}
}

static void test_collectives(void) {
	unsigned char *all = malloc(2 * (size_t)MOST + GUARD);
	for (int k = 0; k < SIZES * 2; k++) {
		int n = sizes[k % SIZES], root = k / SIZES % 2;
		if (check_rank == root)
			fill(mine, n, k);
		else
			memset(mine, 0xa5, MOST + GUARD);
		MPI_Bcast(mine, n, MPI_BYTE, root, MPI_COMM_WORLD);
		verify("bcast", mine, n, k);
		fill(mine, n, k + check_rank);
		memset(all, 0xa5, 2 * (size_t)MOST + GUARD);
		MPI_Gather(mine, n, MPI_BYTE, all, n, MPI_BYTE, root, MPI_COMM_WORLD);
		if (check_rank == root) {
			verify("gather of the last rank", all + n, n, k + 1);
			memset(all + n, 0xa5, GUARD);
			verify("gather of the first rank", all, n, k);
			fill(all + n, n, k + 1);
		}
		memset(mine, 0xa5, MOST + GUARD);
		MPI_Scatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, root, MPI_COMM_WORLD);
		verify("scatter", mine, n, k + check_rank);
	}
	free(all);
}

/* Puts and gets of one thread while the other rank receives small messages from the other thread of this rank. So the
 * waits of the other rank end all the time. */
static void *transfer(void *unused) {
	(void)unused;
	MPI_Win_lock_all(0, win);
	for (int k = 0; k < SIZES * ROUNDS; k++) {
		int n = sizes[k % SIZES];
		fill(mine, n, k);
		MPI_Put(mine, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
		MPI_Win_flush(other, win);
		memset(mine, 0xa5, MOST + GUARD);
		MPI_Get(mine, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
		MPI_Win_flush(other, win);
		verify("get after put", mine, n, k);
	}
	MPI_Win_unlock_all(win);
	return NULL;
}

static void test_threads(void) {
	pthread_t thread;
	if (check_rank == 0)
		pthread_create(&thread, NULL, transfer, NULL);
	for (int i = 0, got; i < SMALL_MESSAGES; i++) {
		if (check_rank == 0) {
			MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
			MPI_Recv(&got, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&i, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
		}
		CHECK(got == i, "message %d has %d", i, got);
	}
	if (check_rank == 0)
		pthread_join(thread, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Tests transfers of both ranks at once. */
static void test_both(void) {
	unsigned char *received = malloc(MOST + GUARD);
	for (int k = 0; k < SIZES * ROUNDS; k++) {
		int n = sizes[k % SIZES];
		fill(mine, n, k + check_rank);
		memset(received, 0xa5, MOST + GUARD);
		MPI_Sendrecv(mine, n, MPI_BYTE, other, 5, received, n, MPI_BYTE, other, 5, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		verify("exchanged message", received, n, k + other);
		memset(window_memory, 0xa5, MOST + GUARD);
		MPI_Win_fence(0, win);
		MPI_Put(mine, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
		MPI_Win_fence(0, win);
		verify("exchanged put", window_memory, n, k + other);
		memset(received, 0xa5, MOST + GUARD);
		MPI_Win_fence(0, win);
		MPI_Get(received, n, MPI_BYTE, other, 0, n, MPI_BYTE, win);
		MPI_Win_fence(0, win);
		verify("exchanged get", received, n, k + check_rank);
	}
	free(received);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	other = 1 - check_rank;
	mine = malloc(MOST + GUARD);
	window_memory = malloc(MOST + GUARD);
	MPI_Win_create(window_memory, MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (strcmp(check_arg, "threads") == 0) {
		test_threads();
	} else if (strcmp(check_arg, "both") == 0) {
		test_both();
	} else {
		bool computes = strcmp(check_arg, "works") == 0;
		test_windows(computes);
		test_messages(computes);
		test_collectives();
	}
	MPI_Win_free(&win);
	free(window_memory);
	free(mine);
	return check_end();
}
