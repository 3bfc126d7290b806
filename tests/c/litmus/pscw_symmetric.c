/* Both ranks of a pair make these calls concurrently:     post(other); start(other); put up to 24 MB; complete; wait
 * Forbidden: a deadlock; missing data after wait. Runs on each window kind.
 * MPI-5.0 12.5.2, 12.7.3
 * np: 2 4
 * args: any huge
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 500000, HUGE = 6000000, TIMES = 16 };

static void body(struct window *w) {
	static const int counts[] = {1, 1000, 40000, MOST};
	int huge = strcmp(check_arg, "huge") == 0, most = huge ? HUGE : MOST;
	int *mem = w->mem, *out = malloc(most * sizeof(int)), other = w->rank ^ 1;
	MPI_Group all, pair;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &other, &pair);
	for (int i = 0; i < (huge ? 2 : TIMES); i++) {
		int count = huge ? HUGE : counts[i % 4];
		for (int k = 0; k < count; k++)
			out[k] = w->rank + i * 7 + k;
		MPI_Win_post(pair, 0, w->win);
		MPI_Win_start(pair, 0, w->win);
		MPI_Put(out, count, MPI_INT, other, window_at(w, other, 0), count, MPI_INT, w->win);
		MPI_Win_complete(w->win);
		memset(out, 0xff, count * sizeof(int)); /* allowed: complete has completed the put at the origin */
		MPI_Win_wait(w->win);
		for (int k = 0; k < count; k += 1 + k / 100)
			if (mem[k] != other + i * 7 + k) {
				CHECK(0, "%s window, %d elements: [%d] is %d, not %d", w->name, count, k, mem[k],
				      other + i * 7 + k);
				break;
			}
	}
	MPI_Group_free(&all);
	MPI_Group_free(&pair);
	free(out);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each((strcmp(check_arg, "huge") == 0 ? HUGE : MOST) * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
