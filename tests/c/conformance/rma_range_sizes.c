/* Proves: bounds are checked with the target's size and unit, not the origin's. Windows have different sizes and units,
 *   and size 0 on some ranks. The last element of each window can be reached. An access to the element after it is
 *   refused with MPI_ERR_RMA_RANGE, and nothing is written. MPI-5.0 12.6.2; gompirma promises to detect it always
 * np: 1 2 5
 * args: create allocate shared
 * ref: none (MPICH and Open MPI do not check bounds)
 * timeout: 60
 */
#include "../windows.h"

static MPI_Aint size_of(int rank) {
	return rank % 3 == 1 ? 0 : 12 + 7 * rank; /* in bytes; need not be a multiple of the element size */
}

static int unit_of(int rank) { return rank % 2 ? 4 : 1; }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "shared") == 0 && !windows_one_node(MPI_COMM_WORLD))
		return check_end(); /* shared windows need all ranks on one node */
	int n = check_size, me = check_rank;
	MPI_Aint size = size_of(me);
	char *mem = NULL, own[64], value = 9, big[64] = {9}, got = -1;
	MPI_Win win;
	if (strcmp(check_arg, "create") == 0)
		MPI_Win_create(size ? mem = own : NULL, size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	else if (strcmp(check_arg, "allocate") == 0)
		MPI_Win_allocate(size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	else
		MPI_Win_allocate_shared(size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	memset(own, 1, sizeof own);
	if (size)
		memset(mem, 1, size);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	for (int t = 0; t < n; t++) {
		MPI_Aint units = size_of(t) / unit_of(t), rest = size_of(t) - units * unit_of(t);
		CHECK_CLASS(MPI_Put(&value, 1, MPI_CHAR, t, units + (rest > 0), 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Put(big, (int)rest + 1, MPI_CHAR, t, units, (int)rest + 1, MPI_CHAR, win),
			    MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Get(&got, 1, MPI_CHAR, t, units + 1, 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Put(big, (int)size_of(t) + 1, MPI_CHAR, t, 0, (int)size_of(t) + 1, MPI_CHAR, win),
			    MPI_ERR_RMA_RANGE);
		CHECK_OK(MPI_Put(NULL, 0, MPI_CHAR, t, 0, 0, MPI_CHAR, win));
		if (size_of(t) > 0 && me == (t + 1) % n) /* only one rank writes the last element */
			CHECK_OK(MPI_Put(&value, 1, MPI_CHAR, t, (size_of(t) - 1) / unit_of(t), 1, MPI_CHAR, win));
	}
	MPI_Win_fence(0, win);
	for (MPI_Aint i = 0; i < size; i++) {
		int want = i == (size - 1) / unit_of(me) * unit_of(me) ? 9 : 1;
		CHECK(mem[i] == want, "byte %d of %d is %d, not %d", (int)i, (int)size, mem[i], want);
	}
	for (MPI_Aint i = mem == own ? size : 0; i < (MPI_Aint)sizeof own; i++)
		CHECK(own[i] == 1, "byte %d outside of the window is %d", (int)i, own[i]);
	CHECK(got == -1, "a refused get wrote %d", got);
	MPI_Win_free(&win);
	return check_end();
}
