/* Proves: many active gets return the right data when MPI_Win_flush, flush_all, flush_local, unlock or a fence returns.
 *   The gets have many sizes and several targets, and some have a vector type. Their number exceeds the size of the
 *   library's queue. Each get writes only to its own buffer. The data of MPI_Rget is present when MPI_Waitall returns,
 *   and puts between the gets arrive. Tests every window kind. MPI-5.0 12.3.2, 12.5.4
 * np: 1 2 4
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { INTS = 24 << 10, GETS = 150, ROOM = 20 << 10, WAYS = 6 };

static int got[GETS][ROOM / 64 + 40], large[ROOM + 2], ids[GETS];
static const int sizes[] = {1, 2, 7, 8, 9, 16, 31, 64, 200, 244, 245, 300};

static int value(int rank, int i) { return rank * 1000003 + i * 7; }

/* Returns the index of an element at the end of the window. Only `origin` puts to this element, and no rank gets it. */
static int put_at(int origin, int i) { return INTS - 1 - i - origin; }

static void body(struct window *w) {
	int *mem = w->mem, number = (int)(sizeof sizes / sizeof *sizes);
	MPI_Datatype every_other;
	MPI_Type_vector(100, 1, 2, MPI_INT, &every_other);
	MPI_Type_commit(&every_other);
	for (int i = 0; i < INTS; i++)
		mem[i] = value(w->rank, i);
	for (int i = 0; i < GETS; i++)
		ids[i] = i;
	for (int way = 0; way < WAYS; way++) {
		MPI_Request r[GETS];
		int requests = 0;
		memset(got, 0xff, sizeof got);
		memset(large, 0xff, sizeof large);
		MPI_Win_fence(0, w->win);
		if (way > 0) {
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
			MPI_Win_lock_all(0, w->win);
		}
		for (int i = 0; i < GETS; i++) {
			int target = (w->rank + i) % w->n, n = sizes[i % number], at = i * 37;
			if (way == 5 && i % 2 == 0)
				MPI_Rget(&got[i][1], n, MPI_INT, target, window_at(w, target, at), n, MPI_INT, w->win,
					 &r[requests++]);
			else if (i % 10 == 3)
				MPI_Get(&got[i][1], 100, MPI_INT, target, window_at(w, target, at), 1, every_other,
					w->win);
			else
				MPI_Get(&got[i][1], n, MPI_INT, target, window_at(w, target, at), n, MPI_INT, w->win);
			if (i % 5 == 0)
				MPI_Put(&ids[i], 1, MPI_INT, target, window_at(w, target, put_at(w->rank, i)), 1,
					MPI_INT, w->win);
			if (i == GETS / 2)
				MPI_Get(&large[1], ROOM, MPI_INT, target, window_at(w, target, 0), ROOM, MPI_INT,
					w->win);
		}
		if (requests)
			MPI_Waitall(requests, r, MPI_STATUSES_IGNORE);
		for (int t = 0; way == 1 && t < w->n; t++)
			MPI_Win_flush(t, w->win);
		for (int t = 0; way == 2 && t < w->n; t++)
			MPI_Win_flush_local(t, w->win);
		if (way == 3 || way == 5)
			MPI_Win_flush_all(w->win);
		if (way == 4)
			MPI_Win_unlock_all(w->win);
		if (way == 0)
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
		for (int i = 0; i < GETS; i++) {
			int target = (w->rank + i) % w->n, n = sizes[i % number], at = i * 37;
			int pieces = i % 10 == 3 && !(way == 5 && i % 2 == 0);
			n = pieces ? 100 : n;
			for (int k = 0; k < n; k++)
				CHECK(got[i][1 + k] == value(target, at + k * (pieces ? 2 : 1)),
				      "%s window, way %d, get %d of %d: number %d is %d", w->name, way, i, n, k,
				      got[i][1 + k]);
			CHECK(got[i][0] == -1 && got[i][1 + n] == -1, "%s window, way %d, get %d: beside it %d %d",
			      w->name, way, i, got[i][0], got[i][1 + n]);
		}
		int from = (w->rank + GETS / 2) % w->n;
		for (int k = 0; k < ROOM; k++)
			CHECK(large[1 + k] == value(from, k), "%s window, way %d, number %d of the large one is %d",
			      w->name, way, k, large[1 + k]);
		CHECK(large[0] == -1 && large[1 + ROOM] == -1, "%s window, way %d: beside the large one", w->name, way);
		if (way > 0 && way != 4)
			MPI_Win_unlock_all(w->win);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int origin = 0; origin < w->n; origin++)
		for (int i = 0; i < GETS; i += 5)
			CHECK((origin + i) % w->n != w->rank || mem[put_at(origin, i)] == i,
			      "%s window: put %d of rank %d is %d", w->name, i, origin, mem[put_at(origin, i)]);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Type_free(&every_other);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(INTS * (MPI_Aint)sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
