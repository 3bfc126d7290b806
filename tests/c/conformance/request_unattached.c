/* Proves: if one of several active operations accesses memory that is not attached, the error is reported only by the
 *   call of that operation or by its request. The other active operations return the right data. MPI-5.0 12.2.4, 12.3.5
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * ref: none (MPICH and Open MPI read what is at the address, or fail as a whole)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { INTS = 1 << 10, MANY = 30, FAR = 64 << 20 };

static int value(int rank, int i) { return rank * 1000003 + i * 7; }

static void body(struct window *w) {
	if (w->kind < KIND_DYNAMIC)
		return;
	MPI_Request r[MANY];
	int class, told[MANY], got[MANY][1], *mem = w->mem, target = (w->rank + 1) % w->n;
	for (int i = 0; i < INTS; i++)
		mem[i] = value(w->rank, i);
	MPI_Barrier(w->comm);
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
	for (int i = 0; i < MANY; i++) {
		MPI_Aint at = window_at(w, target, i % 5 == 3 ? INTS + FAR : i);
		r[i] = MPI_REQUEST_NULL;
		told[i] = MPI_Rget(got[i], 1, MPI_INT, target, at, 1, MPI_INT, w->win, &r[i]);
	}
	for (int i = MANY - 1; i >= 0; i--) {
		if (told[i] == MPI_SUCCESS)
			told[i] = MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		MPI_Error_class(told[i], &class);
		CHECK(class == (i % 5 == 3 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS), "%s window: get %d has ended with %d",
		      w->name, i, class);
		if (i % 5 != 3)
			CHECK(got[i][0] == value(target, i), "%s window: get %d has %d", w->name, i, got[i][0]);
	}
	class = MPI_Win_unlock(target, w->win);
	CHECK(class == MPI_SUCCESS, "%s window: unlock tells of what has been told", w->name);
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * INTS, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
