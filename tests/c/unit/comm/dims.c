/* Proves: MPI_Dims_create returns the best of all descending lists of dimensions with the right product (see the
 * function `better`). Tests all small numbers of nodes in up to five dimensions, and some large numbers. The call keeps
 * dimensions that are set, and rejects impossible arguments.
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "comm/z_calls.h"

enum { MAX_DIMS = 10 };

/* Returns true if the list `a` is better than the list `b`: the difference of its first and last number is smaller. If
 * the differences are equal, the lists are compared at the last position where they differ: the larger number wins. */
static bool better(const int *a, const int *b, int k) {
	int x = a[0] - a[k - 1], y = b[0] - b[k - 1];
	if (x != y)
		return x < y;
	for (int i = k - 1; i >= 0; i--)
		if (a[i] != b[i])
			return a[i] > b[i];
	return false;
}

static int best[MAX_DIMS], now[MAX_DIMS];

/* Tries all descending numbers, at most `max`, for the positions i to k - 1. The product of these numbers must be n. */
static void try_all(int n, int i, int k, int max) {
	if (i == k) {
		if (n == 1 && (best[0] == 0 || better(now, best, k)))
			memcpy(best, now, sizeof best);
		return;
	}
	for (int d = 1; d <= max && d <= n; d++)
		if (n % d == 0) {
			now[i] = d;
			try_all(n / d, i + 1, k, d);
		}
}

static void test_exhaustively(void) {
	for (int n = 1; n <= 600; n++)
		for (int k = 1; k <= 5; k++) {
			int dims[MAX_DIMS] = {0};
			memset(best, 0, sizeof best);
			try_all(n, 0, k, n);
			CHECK(gompi_dims_create(n, k, dims) == MPI_SUCCESS, "%d in %d", n, k);
			CHECK(memcmp(dims, best, (size_t)k * sizeof dims[0]) == 0, "%d in %d: %d ... %d, not %d ... %d",
			      n, k, dims[0], dims[k - 1], best[0], best[k - 1]);
		}
}

static const struct {
	int n, k, dims[MAX_DIMS], want[MAX_DIMS], class;
} some[] = {
	{6, 3, {0, 3, 0}, {2, 3, 1}, 0},
	{7488, 3, {0}, {26, 18, 16}, 0},
	{5 * 7488, 4, {0, 5}, {26, 5, 18, 16}, 0},
	{5040, 3, {0}, {21, 16, 15}, 0}, /* {20, 18, 14} has the same difference of 6, but a smaller last number */
	{8, 2, {8, 1}, {8, 1}, 0},
	{INT32_MAX, 2, {0}, {INT32_MAX, 1}, 0},
	{1 << 30, 10, {0}, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, 0},
	{2095133040, 4, {0}, {221, 216, 210, 209}, 0}, /* the number below 2^31 with the most divisors */
	{1, 0, {0}, {0}, 0},
	{7, 3, {0, 3, 0}, {0}, MPI_ERR_DIMS},
	{8, 2, {4, 1}, {0}, MPI_ERR_DIMS},
	{8, 2, {-1, 0}, {0}, MPI_ERR_DIMS},
	{5, 0, {0}, {0}, MPI_ERR_DIMS},
	{0, 1, {0}, {0}, MPI_ERR_ARG},
	{1, -1, {0}, {0}, MPI_ERR_ARG},
};

int main(void) {
	unit_node(1);
	test_exhaustively();
	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		int dims[MAX_DIMS];
		memcpy(dims, some[i].dims, sizeof dims);
		CHECK(gompi_dims_create(some[i].n, some[i].k, dims) == some[i].class, "%d", some[i].n);
		CHECK(memcmp(dims, some[i].class != 0 ? some[i].dims : some[i].want, sizeof dims) == 0,
		      "%d: %d, %d, %d, %d", some[i].n, dims[0], dims[1], dims[2], dims[3]);
	}
	CHECK(gompi_dims_create(4, 2, NULL) == MPI_ERR_ARG, "no place");
	return unit_end();
}
