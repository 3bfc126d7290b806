/* Proves: many windows can exist at once, each with its own memory and epochs. Hundreds of windows can be created and
 *   freed one after another, or exist at once and be freed in any order. Tests every window kind. MPI-5.0 12.2
 * np: 1 2 5
 * args: at_once in_turn
 * ref: mpich
 * ref-wrong: at_once (MPICH over UCX puts to the wrong place if several windows lie in one page)
 * timeout: 60
 */
#include "../windows.h"

enum { MANY = 60, TURNS = 60 };

static void turn(struct window *w) {
	int *mem = w->mem, right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n, value = w->rank + 100;
	mem[0] = -1;
	MPI_Win_fence(0, w->win);
	MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, w->win);
	MPI_Win_fence(0, w->win);
	CHECK(mem[0] == left + 100, "%s window: %d, not %d", w->name, mem[0], left + 100);
}

static void at_once(struct window *w) {
	MPI_Win wins[MANY];
	int *mems[MANY], values[MANY], n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n;
	for (int i = 0; i < MANY; i++) {
		if (w->kind == KIND_SHARED) {
			MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, w->comm, &mems[i], &wins[i]);
		} else if (w->kind == KIND_ALLOCATE) {
			MPI_Win_allocate(16, 4, MPI_INFO_NULL, w->comm, &mems[i], &wins[i]);
		} else {
			mems[i] = (int *)w->mem + 4 * i;
			MPI_Win_create(mems[i], 16, 4, MPI_INFO_NULL, w->comm, &wins[i]);
		}
		mems[i][0] = -1;
		values[i] = w->rank * 1000 + i;
	}
	for (int i = 0; i < MANY; i++) /* all epochs are open at the same time */
		if (i % 2)
			MPI_Win_fence(0, wins[i]);
		else
			MPI_Win_lock(MPI_LOCK_SHARED, right, 0, wins[i]);
	MPI_Barrier(w->comm);
	for (int i = MANY - 1; i >= 0; i--)
		MPI_Put(&values[i], 1, MPI_INT, right, 0, 1, MPI_INT, wins[i]);
	for (int i = 0; i < MANY; i++)
		if (i % 2)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, wins[i]);
		else
			MPI_Win_unlock(right, wins[i]);
	MPI_Barrier(w->comm);
	for (int i = 0; i < MANY; i++)
		CHECK(mems[i][0] == left * 1000 + i, "%s window %d: %d, not %d", w->name, i, mems[i][0],
		      left * 1000 + i);
	MPI_Barrier(w->comm);
	for (int i = 0; i < MANY; i++)
		MPI_Win_free(&wins[i * 7 % MANY]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "at_once") == 0)
		windows_each(MANY * 16, 4, MPI_COMM_WORLD, at_once);
	else
		for (int i = 0; i < TURNS; i++)
			windows_each(16, 4, MPI_COMM_WORLD, turn);
	return check_end();
}
