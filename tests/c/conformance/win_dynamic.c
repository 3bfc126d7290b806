/* Proves: memory of every kind can be attached to a dynamic window and detached in any order, with many regions at
 *   once. Put, get, accumulate and fetch_and_op reach it by its address at the target. The library finds the right
 *   region among thousands. MPI-5.0 12.2.4
 * np: 1 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { REGIONS = 1000, WORDS = 4 };

static long stack_like[WORDS];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win win;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);

	long *memory[3];
	memory[0] = calloc(WORDS, sizeof(long));
	MPI_Alloc_mem(WORDS * sizeof(long), MPI_INFO_NULL, &memory[1]);
	memset(memory[1], 0, WORDS * sizeof(long));
	memory[2] = stack_like;
	MPI_Aint mine[3], *all = malloc(3 * (size_t)size * sizeof(MPI_Aint));
	for (int i = 0; i < 3; i++) {
		MPI_Win_attach(win, memory[i], WORDS * sizeof(long));
		MPI_Get_address(memory[i], &mine[i]);
	}
	/* A thousand small adjacent regions, attached from the middle outwards; every other one is detached again. */
	char *many = malloc(REGIONS * 64);
	for (int i = 0; i < REGIONS; i++)
		MPI_Win_attach(win, many + 64 * ((i % 2 ? REGIONS + i : REGIONS - 1 - i) / 2), 64);
	for (int i = 0; i < REGIONS; i += 2)
		MPI_Win_detach(win, many + 64 * i);
	MPI_Allgather(mine, 3, MPI_AINT, all, 3, MPI_AINT, MPI_COMM_WORLD);
	MPI_Aint base, *bases = malloc((size_t)size * sizeof(MPI_Aint));
	MPI_Get_address(many, &base);
	MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);

	MPI_Win_lock_all(0, win);
	int target = (rank + 1) % size;
	long one = 1, value = 100 + rank, got = -1;
	for (int i = 0; i < 3; i++) {
		MPI_Aint at = all[3 * target + i];
		MPI_Put(&value, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
		MPI_Win_flush(target, win);
		MPI_Get(&got, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
		MPI_Win_flush(target, win);
		CHECK(got == value, "memory %d: got %ld, not %ld", i, got, value);
		for (int t = 0; t < size; t++) {
			MPI_Accumulate(&one, 1, MPI_LONG, t, MPI_Aint_add(all[3 * t + i], sizeof(long)), 1, MPI_LONG,
				       MPI_SUM, win);
			MPI_Fetch_and_op(&one, &got, MPI_LONG, t, MPI_Aint_add(all[3 * t + i], 2 * sizeof(long)),
					 MPI_SUM, win);
		}
		MPI_Win_flush_all(win);
		CHECK(got >= 0 && got < size, "memory %d: fetched %ld", i, got);
	}
	int number = rank;
	for (int i = 1; i < REGIONS; i += 2)
		MPI_Put(&number, 1, MPI_INT, target, MPI_Aint_add(bases[target], 64 * i + 60), 1, MPI_INT, win);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) {
		CHECK(memory[i][0] == 100 + (rank + size - 1) % size, "memory %d holds %ld", i, memory[i][0]);
		CHECK(memory[i][1] == size && memory[i][2] == size, "memory %d: sums %ld and %ld, not %d", i,
		      memory[i][1], memory[i][2], size);
	}
	for (int i = 1; i < REGIONS; i += 2)
		CHECK(*(int *)(many + 64 * i + 60) == (rank + size - 1) % size, "region %d holds %d", i,
		      *(int *)(many + 64 * i + 60));
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		MPI_Win_detach(win, memory[i]);
	for (int i = 1; i < REGIONS; i += 2)
		MPI_Win_detach(win, many + 64 * i);
	MPI_Win_free(&win);
	MPI_Free_mem(memory[1]);
	free(memory[0]);
	free(many);
	free(all);
	free(bases);
	return check_end();
}
