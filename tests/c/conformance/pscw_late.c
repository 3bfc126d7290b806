/* Proves: the effects of an access epoch are visible at the target when MPI_Win_wait returns or MPI_Win_test is true.
 *   The target waits or tests before the origin completes, sleeps in MPI_Win_wait, or calls MPI_Win_wait long after the
 *   origin has completed. Covers small and large puts, accumulates and gets. The origin may change its buffers after
 *   MPI_Win_complete. Tests every window kind. MPI-5.0 12.5.2
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include <unistd.h>

#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { LARGE = 30000, ROOM = 61440, TIMES = 12, WAITS = 0, SLEEPS, TESTS, COMES_LATER, TARGETS };

static int data[LARGE], got[LARGE];

/* Runs an access epoch. The target's memory consists of ints: element 0 is a sum to which the origins add, the next
 * LARGE elements are written by puts, and the last LARGE elements are read by gets. */
static void origin(struct window *w, int target, MPI_Group group, int time) {
	int count = time % 2 ? 1 : LARGE, one = 1;
	for (int i = 0; i < count; i++)
		data[i] = time * 1000 + i, got[i] = -1;
	if (time % TARGETS == SLEEPS)
		usleep(3000);
	MPI_Win_start(group, 0, w->win);
	MPI_Put(data, count, MPI_INT, target, window_at(w, target, 1), count, MPI_INT, w->win);
	MPI_Accumulate(&one, 1, MPI_INT, target, window_at(w, target, 0), 1, MPI_INT, MPI_SUM, w->win);
	if (time % 3 == 0)
		MPI_Get(got, count, MPI_INT, target, window_at(w, target, 1 + LARGE), count, MPI_INT, w->win);
	MPI_Win_complete(w->win);
	one = 100;
	memset(data, 0xee, count * sizeof *data);
	for (int i = 0; time % 3 == 0 && i < count; i++)
		if (got[i] != -i) {
			CHECK(0, "%s window: element %d that was got is %d, not %d", w->name, i, got[i], -i);
			break;
		}
}

static void expose(struct window *w, MPI_Group group, int time) {
	int *mem = w->mem, count = time % 2 ? 1 : LARGE, done = 0;
	MPI_Win_post(group, 0, w->win);
	if (time % TARGETS == COMES_LATER)
		usleep(3000);
	if (time % TARGETS == TESTS)
		while (!done)
			MPI_Win_test(w->win, &done);
	else
		MPI_Win_wait(w->win);
	CHECK(mem[0] == time + 1, "%s window, time %d: the sum is %d", w->name, time, mem[0]);
	for (int i = 0; i < count; i++)
		if (mem[1 + i] != time * 1000 + i) {
			CHECK(0, "%s window, time %d: element %d is %d", w->name, time, i, mem[1 + i]);
			break;
		}
}

static void body(struct window *w) {
	int *mem = w->mem, other = w->rank ^ 1;
	MPI_Group all, group;
	MPI_Comm_group(w->comm, &all);
	MPI_Group_incl(all, 1, &other, &group);
	memset(mem, 0, w->size);
	for (int i = 0; i < LARGE; i++)
		mem[1 + LARGE + i] = -i;
	MPI_Barrier(w->comm);
	for (int time = 0; time < TIMES; time++)
		if (w->rank % 2)
			origin(w, other, group, time);
		else
			expose(w, group, time);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * ROOM, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
