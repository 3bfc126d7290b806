/* calls_round makes one round of MPI calls of many kinds and checks their results. Most of these calls allocate memory
 * or wait. Tests send signals to the process during the round. Collective over MPI_COMM_WORLD.
 */
#ifndef CALLS_H
#define CALLS_H

#include "check.h"

/* Overwrites at least n bytes of the stack below the caller's frame, as a signal handler may do. */
static __attribute__((noinline)) int use_stack(int n) {
	volatile char b[4096];
	memset((char *)b, 0x5a, sizeof b);
	if (n > (int)sizeof b)
		return use_stack(n - (int)sizeof b) + b[7];
	return b[9];
}

static inline void calls_round(int round) {
	int n = check_size, me = check_rank, next = (me + 1) % n, before = (me + n - 1) % n;

	MPI_Datatype vector;
	CHECK_OK(MPI_Type_vector(3 + round % 5, 1, 2, MPI_DOUBLE, &vector));
	CHECK_OK(MPI_Type_commit(&vector));
	int size = 0;
	CHECK_OK(MPI_Type_size(vector, &size));
	CHECK(size == 8 * (3 + round % 5), "size %d", size);
	CHECK_OK(MPI_Type_free(&vector));

	double from = me + round, to = -1;
	CHECK_OK(MPI_Sendrecv(&from, 1, MPI_DOUBLE, next, 7, &to, 1, MPI_DOUBLE, before, 7, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE));
	CHECK(to == before + round, "received %g, not %d", to, before + round);

	int sum = 0, one = me + 1;
	CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == n * (n + 1) / 2, "sum %d", sum);

	if (round % 8 == 0) {
		MPI_Comm copy;
		CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
		CHECK_OK(MPI_Comm_free(&copy));
		MPI_Info info;
		char value[32], text[32];
		int flag = 0;
		snprintf(text, sizeof text, "%d", round);
		CHECK_OK(MPI_Info_create(&info));
		CHECK_OK(MPI_Info_set(info, "round", text));
		CHECK_OK(MPI_Info_get(info, "round", sizeof value - 1, value, &flag));
		CHECK(flag && strcmp(value, text) == 0, "the info value is %s, not %s", value, text);
		CHECK_OK(MPI_Info_free(&info));
	}
	if (round % 16 == 0) {
		static double here[512];
		double out = 100 * me + round, in = -1;
		MPI_Win win;
		here[3] = -1;
		CHECK_OK(MPI_Win_create(here, sizeof here, sizeof *here, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		CHECK_OK(MPI_Win_fence(0, win));
		CHECK_OK(MPI_Put(&out, 1, MPI_DOUBLE, next, 3, 1, MPI_DOUBLE, win));
		CHECK_OK(MPI_Win_fence(0, win));
		CHECK_OK(MPI_Get(&in, 1, MPI_DOUBLE, next, 3, 1, MPI_DOUBLE, win));
		CHECK_OK(MPI_Win_fence(0, win));
		CHECK(here[3] == 100 * before + round && in == out, "put %g, got %g", here[3], in);
		CHECK_OK(MPI_Win_free(&win));
	}
}

#endif
