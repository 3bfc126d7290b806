/* Proves: windows may have size 0 on some or all ranks, a null base, and odd sizes. The parts of different ranks do not
 *   overlap, and every byte can be put and read back. New memory does not contain data of other ranks. MPI-5.0 12.2.1,
 *   12.2.2, 12.2.3
 * np: 1 2 5
 * nodes: 2
 * args: create allocate shared
 * ref: mpich
 * ref-wrong: allocate (MPICH lets the end of a rank's part overlap the next rank's part)
 * timeout: 60
 */
#include "../windows.h"

static MPI_Aint size_of(int rank, int round) {
	static const int sizes[] = {1, 0, 3, 17, 100, 4097, 8, 0, 65, 33333};
	return round == 0 ? 0 : sizes[(rank * 3 + round) % 10];
}

static unsigned char pattern(int rank, int round, MPI_Aint i) {
	return (unsigned char)(rank * 41 + round * 7 + i * 3 + 1);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "shared") == 0 && !windows_one_node(MPI_COMM_WORLD))
		return check_end(); /* shared windows need all ranks on one node */
	int n = check_size, me = check_rank;
	unsigned char *mem, *own, buffer[33333];
	for (int round = 0; round < 10; round++) {
		MPI_Aint size = size_of(me, round);
		MPI_Win win;
		mem = NULL;
		own = malloc(size + 1);
		if (strcmp(check_arg, "create") == 0)
			MPI_Win_create(mem = size ? own : NULL, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		else if (strcmp(check_arg, "allocate") == 0)
			MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
		else
			MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
		for (MPI_Aint i = 0; i < size; i++)
			mem[i] = pattern(me, round, i);
		MPI_Win_fence(0, win);
		for (int t = 0; t < n; t++) {
			memset(buffer, 0, sizeof buffer);
			MPI_Get(buffer, (int)size_of(t, round), MPI_BYTE, t, 0, (int)size_of(t, round), MPI_BYTE, win);
			MPI_Win_fence(0, win);
			for (MPI_Aint i = 0; i < size_of(t, round); i++)
				CHECK(buffer[i] == pattern(t, round, i),
				      "round %d: byte %d of %d of rank %d is %d, not %d", round, (int)i,
				      (int)size_of(t, round), t, buffer[i], pattern(t, round, i));
		}
		int left = (me + n - 1) % n, right = (me + 1) % n;
		for (MPI_Aint i = 0; i < size_of(right, round); i++)
			buffer[i] = pattern(me + 9, round, i);
		MPI_Put(buffer, (int)size_of(right, round), MPI_BYTE, right, 0, (int)size_of(right, round), MPI_BYTE,
			win);
		MPI_Win_fence(0, win);
		for (MPI_Aint i = 0; i < size; i++)
			CHECK(mem[i] == pattern(left + 9, round, i), "round %d: byte %d of %d is %d, not %d", round,
			      (int)i, (int)size, mem[i], pattern(left + 9, round, i));
		MPI_Win_free(&win);
		free(own);
	}
	return check_end();
}
