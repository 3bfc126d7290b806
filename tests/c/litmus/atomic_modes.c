/* Accumulates of few elements, which are updated one by one, while another origin's large one begins, again and again:
 *     each rank: 300 times sum of 64 elements; one sum of 2000 that holds them
 * Forbidden: a lost addition. On each window kind.
 * MPI-5.0 12.7.1
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { FEW = 64, MANY = 2000, TURNS = 40, IN_A_ROW = 300 };

static void body(struct window *w) {
	int64_t ones[MANY], *mem = w->mem;
	MPI_Datatype L = MPI_INT64_T;
	int turns = w->n > 2 ? TURNS / 8 : TURNS;
	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	memset(mem, 0, w->size);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int turn = 0; turn < turns; turn++) {
		for (int i = 0; i < IN_A_ROW; i++)
			MPI_Accumulate(ones, FEW, L, 0, window_at(w, 0, 0), FEW, L, MPI_SUM, w->win);
		MPI_Accumulate(ones, MANY, L, 0, window_at(w, 0, 0), MANY, L, MPI_SUM, w->win);
		MPI_Win_flush(0, w->win);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int i = 0; i < MANY && w->rank == 0; i++) {
		int want = turns * w->n * (i < FEW ? IN_A_ROW + 1 : 1);
		CHECK(mem[i] == want, "%s window: element %d is %d, not %d", w->name, i, (int)mem[i], want);
	}
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(8 * MANY, 8, MPI_COMM_WORLD, body);
	return check_end();
}
