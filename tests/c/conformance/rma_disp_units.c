/* Proves: displacements are in the displacement unit of the target. Each rank passes its own unit and size; puts, gets,
 *   accumulates and fetches reach the right element. Covers windows over existing memory, MPI_Win_allocate and
 *   MPI_Win_allocate_shared. MPI-5.0 12.2.1
 * np: 1 2 5
 * args: create allocate shared
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

static int unit_of(int rank) {
	static const int units[] = {1, 8, 2, 16, 24};
	return units[rank % 5];
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "shared") == 0 && !windows_one_node(MPI_COMM_WORLD))
		return check_end(); /* shared windows need all ranks on one node */
	int n = check_size, me = check_rank;
	MPI_Aint size = (20 + me) * 48;
	char *mem, *own = malloc(size);
	MPI_Win win;
	if (strcmp(check_arg, "create") == 0)
		MPI_Win_create(mem = own, size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	else if (strcmp(check_arg, "allocate") == 0)
		MPI_Win_allocate(size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	else
		MPI_Win_allocate_shared(size, unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	memset(mem, 0, size);
	MPI_Win_fence(0, win);
	/* element k of origin o lies at byte 48 * (4 * o + k) of every target */
	double real = me + 0.5, got = -1;
	int64_t value = me + 1, old = -1;
	for (int t = 0; t < n; t++) {
		int per = 48 / unit_of(t);
		MPI_Put(&real, 1, MPI_DOUBLE, t, per * (4 * me), 1, MPI_DOUBLE, win);
		MPI_Accumulate(&value, 1, MPI_INT64_T, t, per * (4 * me + 1), 1, MPI_INT64_T, MPI_SUM, win);
		MPI_Fetch_and_op(&value, &old, MPI_INT64_T, t, per * (4 * me + 2), MPI_SUM, win);
	}
	MPI_Win_fence(0, win);
	for (int t = 0; t < n; t++) {
		int per = 48 / unit_of(t);
		MPI_Get(&got, 1, MPI_DOUBLE, t, per * (4 * me), 1, MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
		CHECK(got == real, "unit %d: got %g, not %g", unit_of(t), got, real);
	}
	for (MPI_Aint i = 0; i < size; i += 8) {
		int origin = i / 48 / 4, k = i / 48 % 4, first = i % 48 == 0 && origin < n;
		memcpy(&real, mem + i, 8);
		memcpy(&value, mem + i, 8);
		if (first && k == 0)
			CHECK(real == origin + 0.5, "byte %d: %g, not %g", (int)i, real, origin + 0.5);
		else if (first && k < 3)
			CHECK(value == origin + 1, "byte %d: %d, not %d", (int)i, (int)value, origin + 1);
		else
			CHECK(value == 0, "byte %d was written", (int)i);
	}
	MPI_Win_free(&win);
	free(own);
	return check_end();
}
