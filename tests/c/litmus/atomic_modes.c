/* Proves: no addition is lost when accumulates of few elements, which the library updates with atomic instructions,
 *   overlap with a large accumulate. The large accumulate uses plain loops under a lock. An atomic update between a
 *   load and the store of such a loop would be lost, so the large accumulate must exclude the atomic updates.
 *   First test; all ranks repeat concurrently:
 *       300 accumulates (MPI_SUM) of the first 64 elements; then one accumulate of all 2000 elements
 *   Second test; the ranks take turns. The rank whose turn it is:
 *       200 accumulates, most of them of the first 68 elements, some of all 2000
 *   Meanwhile each other rank:
 *       40 times a fetch-and-add of one of these elements and an accumulate of one to four of them
 *   Forbidden: a lost addition. The test runs on each window kind.
 *   MPI-5.0 12.7.1
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { FEW = 64, MANY = 2000, TURNS = 40, IN_A_ROW = 300 };

static void owners(struct window *w) {
	enum { OWN = 200, OTHERS = 40 };
	int64_t ones[MANY], was, *mem = w->mem;
	MPI_Datatype L = MPI_INT64_T;
	int turns = w->n > 2 ? TURNS / 8 * w->n : TURNS;
	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int turn = 0; turn < turns; turn++) {
		int at = turn % FEW, several = turn % 4 + 1;
		if (turn % w->n == w->rank) {
			for (int i = 0; i < OWN; i++) {
				int n = i % 20 == 0 ? MANY : FEW + 4;
				MPI_Accumulate(ones, n, L, 0, window_at(w, 0, 0), n, L, MPI_SUM, w->win);
			}
		} else {
			for (int i = 0; i < OTHERS; i++) {
				MPI_Fetch_and_op(ones, &was, L, 0, window_at(w, 0, at), MPI_SUM, w->win);
				MPI_Accumulate(ones, several, L, 0, window_at(w, 0, at), several, L, MPI_SUM, w->win);
			}
		}
		MPI_Win_flush(0, w->win);
		if (turn % 3 == 0)
			MPI_Barrier(w->comm);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int i = 0; i < MANY && w->rank == 0; i++) {
		int want = turns * (i < FEW + 4 ? OWN : OWN / 20);
		for (int turn = 0; turn < turns; turn++) {
			int first = turn % FEW, several = turn % 4 + 1;
			want += (w->n - 1) * OTHERS * ((i == first) + (i >= first && i < first + several));
		}
		CHECK(mem[i] == want, "%s window: element %d is %d, not %d", w->name, i, (int)mem[i], want);
	}
	MPI_Win_unlock(w->rank, w->win);
}

static void body(struct window *w) {
	int64_t ones[MANY], *mem = w->mem;
	MPI_Datatype L = MPI_INT64_T;
	int turns = w->n > 2 ? TURNS / 8 : TURNS;
	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	window_zero(w);
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
	windows_each(8 * MANY, 8, MPI_COMM_WORLD, owners);
	return check_end();
}
