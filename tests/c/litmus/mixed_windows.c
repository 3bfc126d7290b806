/* Message passing with data and flag in windows of different kinds, so that they may take different paths to the
 *   target:
 *     rank 1: put data = i in A; flush A; acc REPLACE flag = i in B; flush B
 *     rank 0: poll until flag = i in B; then load data in A
 * Forbidden: flag i and data < i. Runs with all pairs of window kinds.
 * MPI-5.0 12.5.4, 12.7
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 25, COUNT = 100 };

static struct window *a;

static void both(struct window *b) {
	int64_t *data = a->mem, values[COUNT], flag;
	MPI_Datatype L = MPI_INT64_T;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, b->rank, 0, b->win);
	*(int64_t *)b->mem = 0;
	MPI_Win_unlock(b->rank, b->win);
	MPI_Barrier(b->comm);
	MPI_Win_lock_all(0, a->win);
	MPI_Win_lock_all(0, b->win);
	for (int64_t i = 1; i <= TIMES; i++) {
		if (b->rank == 1) {
			for (int k = 0; k < COUNT; k++)
				values[k] = i;
			MPI_Put(values, COUNT, L, 0, window_at(a, 0, 0), COUNT, L, a->win);
			MPI_Win_flush(0, a->win);
			MPI_Accumulate(&i, 1, L, 0, window_at(b, 0, 0), 1, L, MPI_REPLACE, b->win);
			MPI_Win_flush(0, b->win);
			MPI_Recv(NULL, 0, MPI_INT, 0, 0, b->comm, MPI_STATUS_IGNORE);
		} else if (b->rank == 0) {
			for (flag = 0; flag < i;) {
				MPI_Fetch_and_op(NULL, &flag, L, 0, window_at(b, 0, 0), MPI_NO_OP, b->win);
				MPI_Win_flush(0, b->win);
			}
			MPI_Win_sync(a->win);
			for (int k = 0; k < COUNT; k++)
				CHECK(data[k] == i, "data in a %s window, flag in a %s window: flag %d, data %d",
				      a->name, b->name, (int)i, (int)data[k]);
			MPI_Send(NULL, 0, MPI_INT, 1, 0, b->comm);
		}
	}
	MPI_Win_unlock_all(b->win);
	MPI_Win_unlock_all(a->win);
	MPI_Barrier(b->comm);
}

static void body(struct window *w) {
	a = w;
	for (int kind = 0; kind < KINDS; kind++)
		if (kind != KIND_STATIC || w->kind != KIND_STATIC) /* only one static array exists */
			windows_one(kind, 64, 8, w->comm, both);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(8 * COUNT, 8, MPI_COMM_WORLD, body);
	return check_end();
}
