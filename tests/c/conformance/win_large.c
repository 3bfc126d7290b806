/* Proves: windows of 48 MiB per rank work: the first, the last and some elements between can be put, accumulated and
 *   read back. 16 windows are created and freed, so that a memory leak is noticed. Tests every window kind.
 *   MPI-5.0 12.2
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

#define SIZE ((MPI_Aint)48 << 20)

static void body(struct window *w) {
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	MPI_Aint last = SIZE / 8 - 1, at[5] = {0, 1, last / 2, last - 4096, last};
	int64_t *mem = w->mem, value = w->rank + 1, sum = 10;
	for (int i = 0; i < 5; i++)
		mem[at[i]] = -1;
	MPI_Win_fence(0, w->win);
	for (int i = 0; i < 5; i++)
		MPI_Put(&value, 1, MPI_INT64_T, right, at[i], 1, MPI_INT64_T, w->win);
	MPI_Win_fence(0, w->win);
	for (int i = 0; i < 5; i++)
		MPI_Accumulate(&sum, 1, MPI_INT64_T, right, at[i], 1, MPI_INT64_T, MPI_SUM, w->win);
	MPI_Win_fence(0, w->win);
	for (int i = 0; i < 5; i++)
		CHECK(mem[at[i]] == left + 11, "%s window: element %lld is %lld, not %d", w->name, (long long)at[i],
		      (long long)mem[at[i]], left + 11);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int i = 0; i < 16; i++)
		windows_each(SIZE, 8, MPI_COMM_WORLD, body);
	return check_end();
}
