/* Proves: MPI_Win_create accepts any non-negative size, even if it is much larger than the existing memory. Programs do
 *   this to open a window over all memory after an address. The existing memory can be accessed, and the attribute
 *   returns the given size. Each member may pass a different size. MPI-5.0 12.2.1
 * np: 1 2 4
 * args: malloc alloc_mem static
 * again: GOMPIRMA_SHARE_IN_PLACE=1
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { N = 3000 };

static int area[N];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	const MPI_Aint sizes[] = {INT64_MAX, INT64_MAX - 4095, (MPI_Aint)1 << 56, ((MPI_Aint)1 << 40) + 1,
				  ((MPI_Aint)1 << 47) - 4096};
	enum { SIZES = sizeof sizes / sizeof *sizes };
	int *mem = area, rank, n;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (strcmp(check_arg, "malloc") == 0)
		mem = malloc(N * sizeof(int));
	else if (strcmp(check_arg, "alloc_mem") == 0)
		MPI_Alloc_mem(N * sizeof(int), MPI_INFO_NULL, &mem);
	for (int i = 0; i < SIZES; i++) {
		MPI_Aint size = sizes[(i + rank) % SIZES], *told;
		int flag, right = (rank + 1) % n, left = (rank + n - 1) % n, value = 100 * i + rank, sum = 0;
		MPI_Win win;
		for (int k = 0; k < N; k++)
			mem[k] = 0;
		CHECK_OK(MPI_Win_create(mem, size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		MPI_Win_get_attr(win, MPI_WIN_SIZE, &told, &flag);
		CHECK(flag && *told == size, "size %lld, not %lld", (long long)*told, (long long)size);
		MPI_Win_fence(0, win);
		CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, N - 1, 1, MPI_INT, win));
		CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win));
		MPI_Win_fence(0, win);
		CHECK_OK(MPI_Get(&sum, 1, MPI_INT, right, 0, 1, MPI_INT, win));
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
		CHECK(mem[N - 1] == 100 * i + left && mem[0] == 100 * i + left, "size %lld: %d and %d", (long long)size,
		      mem[0], mem[N - 1]);
		CHECK(sum == value, "size %lld: got %d", (long long)size, sum);
		CHECK_OK(MPI_Win_free(&win));
	}
	if (strcmp(check_arg, "malloc") == 0)
		free(mem);
	else if (strcmp(check_arg, "alloc_mem") == 0)
		MPI_Free_mem(mem);
	return check_end();
}
