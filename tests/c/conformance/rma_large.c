/* Proves: puts, gets and accumulates of a quarter of a million elements deliver all data at any alignment, between
 *   neighbours and from all ranks to one rank. They write nothing outside of the target range. Tests every window kind.
 *   MPI-5.0 12.3
 * np: 1 2 4
 * args: put get accumulate get_accumulate
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

enum { COUNT = 260000 };

static void body(struct window *w) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, put = strcmp(check_arg, "put") == 0;
	int *buffer = malloc(COUNT * sizeof(int)), *old = malloc(COUNT * sizeof(int)), wrong = 0;
	for (int shift = 0; shift < 16; shift += 5) {
		char *mem = w->mem;
		memset(mem, 0x33, w->size);
		int *at = malloc(COUNT * sizeof(int));
		for (int i = 0; i < COUNT; i++)
			buffer[i] = w->rank * 1000003 + i, at[i] = w->rank * 7 + i * 3;
		if (!put)
			memcpy(mem + shift, at, COUNT * sizeof(int));
		MPI_Win_fence(0, w->win);
		if (put)
			MPI_Put(buffer, COUNT, MPI_INT, right, shift, COUNT, MPI_INT, w->win);
		else if (strcmp(check_arg, "get") == 0)
			MPI_Get(old, COUNT, MPI_INT, right, shift, COUNT, MPI_INT, w->win);
		else if (strcmp(check_arg, "accumulate") == 0)
			MPI_Accumulate(buffer, COUNT, MPI_INT, right, shift, COUNT, MPI_INT, MPI_SUM, w->win);
		else
			MPI_Get_accumulate(buffer, COUNT, MPI_INT, old, COUNT, MPI_INT, right, shift, COUNT, MPI_INT,
					   MPI_SUM, w->win);
		MPI_Win_fence(0, w->win);
		memcpy(at, mem + shift, COUNT * sizeof(int));
		int sums = strstr(check_arg, "accumulate") != NULL, gets = strncmp(check_arg, "get", 3) == 0;
		for (int i = 0; i < COUNT && wrong < 5; i++) {
			int want = put ? left * 1000003 + i : w->rank * 7 + i * 3 + (sums ? left * 1000003 + i : 0);
			if (at[i] != want)
				wrong++;
			CHECK(at[i] == want, "%s window, shift %d: element %d is %d, not %d", w->name, shift, i, at[i],
			      want);
			CHECK(!gets || old[i] == right * 7 + i * 3, "%s window, shift %d: got %d, not %d", w->name,
			      shift, old[i], right * 7 + i * 3);
		}
		for (int i = 0; i < shift; i++)
			CHECK(mem[i] == 0x33, "%s window: byte %d before the target changed", w->name, i);
		for (MPI_Aint i = shift + COUNT * sizeof(int); i < w->size; i++)
			CHECK(mem[i] == 0x33, "%s window: byte %d behind the target changed", w->name, (int)i);
		free(at);
		MPI_Win_fence(0, w->win);
	}
	free(buffer);
	free(old);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(COUNT * sizeof(int) + 64, 1, MPI_COMM_WORLD, body);
	return check_end();
}
