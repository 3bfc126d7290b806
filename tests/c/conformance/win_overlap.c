/* Proves: two windows may cover the same memory or overlapping parts of it. If both windows are synchronized, a get
 *   through one window returns the data of a put through the other window. MPI-5.0 allows this as long as accesses do
 *   not conflict. MPI-5.0 12.2.1
 * np: 1 2 5
 * ref: none (MPICH over UCX puts to the wrong place if several windows lie in one page; Open MPI passes)
 * timeout: 60
 */
#include "../check.h"

enum { COUNT = 100 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, *mem, value, got;
	for (int alloc = 0; alloc < 2; alloc++) {
		MPI_Win whole, half;
		if (alloc)
			MPI_Alloc_mem(COUNT * sizeof(int), MPI_INFO_NULL, &mem);
		else
			mem = malloc(COUNT * sizeof(int));
		MPI_Win_create(mem, COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
		MPI_Win_create(mem + COUNT / 2, COUNT / 2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
			       &half);
		for (int i = 0; i < COUNT; i++)
			mem[i] = -1;
		for (int time = 0; time < 10; time++) {
			MPI_Win_fence(0, whole);
			value = me * 100 + time;
			MPI_Put(&value, 1, MPI_INT, right, COUNT / 2 + time, 1, MPI_INT, whole);
			MPI_Win_fence(0, whole);
			MPI_Win_fence(0, half);
			MPI_Get(&got, 1, MPI_INT, right, time, 1, MPI_INT, half);
			MPI_Win_fence(0, half);
			CHECK(got == value, "put through one window %d, got through the other %d", value, got);
			CHECK(mem[COUNT / 2 + time] == left * 100 + time, "element %d is %d", time,
			      mem[COUNT / 2 + time]);
		}
		MPI_Win_free(&whole);
		MPI_Win_fence(0, half); /* the other window still exists */
		MPI_Put(&value, 1, MPI_INT, right, 40, 1, MPI_INT, half);
		MPI_Win_fence(0, half);
		CHECK(mem[COUNT / 2 + 40] == left * 100 + 9, "after the first window was freed: %d",
		      mem[COUNT / 2 + 40]);
		MPI_Win_free(&half);
		if (alloc)
			MPI_Free_mem(mem);
		else
			free(mem);
	}
	return check_end();
}
