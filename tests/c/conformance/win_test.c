/* Proves: MPI_Win_test returns false until every origin has completed its access epoch, and true afterwards. The result
 *   true ends the exposure epoch, so the next post may follow. Tests every window kind. MPI-5.0 12.5.2
 * np: 2 4
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 6 };

static void body(struct window *w) {
	int *mem = w->mem, flag, go = 1, others[16], zero = 0;
	MPI_Group all, rest, first;
	MPI_Win_get_group(w->win, &all);
	for (int i = 1; i < w->n; i++)
		others[i - 1] = i;
	MPI_Group_incl(all, w->n - 1, others, &rest);
	MPI_Group_incl(all, 1, &zero, &first);
	for (int time = 0; time < TIMES; time++) {
		if (w->rank == 0) {
			for (int i = 0; i < w->n; i++)
				mem[i] = -1;
			MPI_Win_post(rest, 0, w->win);
			for (int i = 0; i < 20;
			     i++) { /* no origin has completed yet: rank 1 waits for the message below */
				MPI_Win_test(w->win, &flag);
				CHECK(flag == 0, "%s window: the epoch ended before rank 1 completed", w->name);
			}
			MPI_Send(&go, 1, MPI_INT, 1, 0, w->comm);
			for (flag = 0; !flag;)
				MPI_Win_test(w->win, &flag);
			for (int i = 1; i < w->n; i++)
				CHECK(mem[i] == i * 10 + time, "%s window: element %d is %d, not %d", w->name, i,
				      mem[i], i * 10 + time);
		} else {
			int value = w->rank * 10 + time;
			MPI_Win_start(first, 0, w->win);
			MPI_Put(&value, 1, MPI_INT, 0, window_at(w, 0, w->rank), 1, MPI_INT, w->win);
			if (w->rank == 1)
				MPI_Recv(&go, 1, MPI_INT, 0, 0, w->comm, MPI_STATUS_IGNORE);
			MPI_Win_complete(w->win);
		}
	}
	MPI_Group_free(&all);
	MPI_Group_free(&rest);
	MPI_Group_free(&first);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
