/* Proves: a process can have a quarter of a million allocations of MPI_Alloc_mem at a time, of different sizes, and
 *   free them in any order. No allocation overlaps another. Windows over some of them, and dynamic windows with
 *   thousands of them attached, work as over any memory. MPI-5.0 9.2, 12.2.1, 12.2.4
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MANY = 250000, WINDOWS = 20, ATTACHED = 3000 };

static long *mem[MANY];

static int words(int i) { return 1 + i % 25; }

static long value(int i, int k) { return 1000L * i + k; }

static void check(int i) {
	for (int k = 0; k < words(i); k++)
		if (mem[i][k] != value(i, k)) {
			CHECK(0, "word %d of piece %d is %ld", k, i, mem[i][k]);
			return;
		}
}

static void fill(int i) {
	for (int k = 0; k < words(i); k++)
		mem[i][k] = value(i, k);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
	for (int i = 0; i < MANY; i++) {
		int rc = MPI_Alloc_mem(words(i) * (MPI_Aint)sizeof(long), MPI_INFO_NULL, &mem[i]);
		if (rc != MPI_SUCCESS || mem[i] == NULL) {
			char text[MPI_MAX_ERROR_STRING];
			int n;
			MPI_Error_string(rc, text, &n);
			fprintf(stderr, "piece %d: %s\n", i, text);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		fill(i);
	}

	/* Windows over single allocations: each put arrives and changes nothing else. */
	MPI_Win win[WINDOWS];
	for (int w = 0; w < WINDOWS; w++) {
		int i = w * (MANY / WINDOWS);
		MPI_Win_create(mem[i], words(i) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
			       &win[w]);
		MPI_Win_fence(0, win[w]);
		long x = -check_rank - 1;
		MPI_Put(&x, 1, MPI_LONG, right, words(i) - 1, 1, MPI_LONG, win[w]);
		MPI_Win_fence(0, win[w]);
		CHECK(mem[i][words(i) - 1] == -left - 1, "the window over piece %d holds %ld", i, mem[i][words(i) - 1]);
		mem[i][words(i) - 1] = value(i, words(i) - 1);
	}
	for (int w = 0; w < WINDOWS; w++)
		MPI_Win_free(&win[w]);
	for (int i = 0; i < MANY; i++)
		check(i);

	/* A dynamic window to which many of the allocations are attached. */
	MPI_Win dynamic;
	MPI_Aint here[ATTACHED], there[ATTACHED];
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
	for (int i = 0; i < ATTACHED; i++) {
		CHECK_OK(MPI_Win_attach(dynamic, mem[i], words(i) * (MPI_Aint)sizeof(long)));
		MPI_Get_address(mem[i], &here[i]);
	}
	MPI_Sendrecv(here, ATTACHED, MPI_AINT, left, 0, there, ATTACHED, MPI_AINT, right, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Win_lock_all(0, dynamic);
	for (int i = 0; i < ATTACHED; i++) {
		long x = value(i, 0) + right + 1, old = 0;
		MPI_Put(&x, 1, MPI_LONG, right, there[i], 1, MPI_LONG, dynamic);
		MPI_Win_flush(right, dynamic);
		x = 10;
		MPI_Fetch_and_op(&x, &old, MPI_LONG, right, there[i], MPI_SUM, dynamic);
		MPI_Win_flush(right, dynamic);
		CHECK(old == value(i, 0) + right + 1, "piece %d of rank %d holds %ld", i, right, old);
	}
	MPI_Win_unlock_all(dynamic);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ATTACHED; i++) {
		CHECK(mem[i][0] == value(i, 0) + check_rank + 11, "piece %d holds %ld", i, mem[i][0]);
		mem[i][0] = value(i, 0);
		MPI_Win_detach(dynamic, mem[i]);
	}
	MPI_Win_free(&dynamic);

	/* Frees the allocations in an order unrelated to allocation order. Meanwhile half of them are allocated
	 * again. */
	for (int turn = 0; turn < 2; turn++)
		for (int k = 0; k < MANY; k++) {
			int i = (int)((k * 7919LL + turn) % MANY);
			check(i);
			CHECK_OK(MPI_Free_mem(mem[i]));
			if (turn == 0) {
				if (MPI_Alloc_mem(words(i) * (MPI_Aint)sizeof(long), MPI_INFO_NULL, &mem[i]) !=
				    MPI_SUCCESS)
					MPI_Abort(MPI_COMM_WORLD, 1);
				fill(i);
			}
		}
	return check_end();
}
