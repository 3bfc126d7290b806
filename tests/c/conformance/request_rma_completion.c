/* Proves: with many MPI_Rget, MPI_Rget_accumulate and MPI_Rput active, an operation is complete at the origin when its
 *   request is complete. Covers every wait and test call, and MPI_Request_get_status, in any order. Some requests are
 *   completed after a flush, after the epoch, or after the window is freed. Tests every window kind. MPI-5.0 12.3.5,
 *   3.7.5
 * np: 1 2 3
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { INTS = 40 << 10, MANY = 30, MOST = 24 << 10 };

static const int counts[] = {1, 3, 60, 1000, 2000, 5000, MOST};
static int got[MANY][MOST];

static int value(int rank, int i) { return rank * 1000003 + i * 7; }
static int count_of(int i) { return counts[i % (int)(sizeof counts / sizeof *counts)]; }

static void start(struct window *w, int target, MPI_Request r[]) {
	memset(got, 0xff, sizeof got);
	for (int i = 0; i < MANY; i++) {
		int n = count_of(i);
		if (i % 3 == 2)
			MPI_Rget_accumulate(NULL, 0, MPI_INT, got[i], n, MPI_INT, target, window_at(w, target, i), n,
					    MPI_INT, MPI_NO_OP, w->win, &r[i]);
		else
			MPI_Rget(got[i], n, MPI_INT, target, window_at(w, target, i), n, MPI_INT, w->win, &r[i]);
	}
}

static void look(const struct window *w, int target, int i) {
	for (int j = 0; j < count_of(i); j++)
		if (got[i][j] != value(target, i + j)) {
			CHECK(0, "%s window: element %d of operation %d from rank %d is %d, not %d", w->name, j, i,
			      target, got[i][j], value(target, i + j));
			return;
		}
}

enum { WAIT, TEST, WAITANY, TESTANY, WAITSOME, TESTSOME, WAITALL, TESTALL, GET_STATUS, WAYS };

/* Completes some of the requests by the call that `way` selects. Returns the number of completed requests. */
static int end_some(const struct window *w, int target, int way, MPI_Request r[], int left) {
	int flag = 0, which[MANY], n = 0, first = 0;
	while (r[first] == MPI_REQUEST_NULL)
		first++;
	int last = MANY - 1;
	while (r[last] == MPI_REQUEST_NULL)
		last--;
	which[0] = last;
	switch (way) {
	case WAIT:
		MPI_Wait(&r[last], MPI_STATUS_IGNORE);
		n = 1;
		break;
	case TEST:
		MPI_Test(&r[last], &n, MPI_STATUS_IGNORE);
		break;
	case GET_STATUS:
		which[0] = first;
		MPI_Request_get_status(r[first], &flag, MPI_STATUS_IGNORE);
		if (flag) {
			look(w, target, first);
			MPI_Test(&r[first], &n, MPI_STATUS_IGNORE);
			CHECK(n, "%s window: a request was complete and is not", w->name);
		}
		break;
	case WAITANY:
		MPI_Waitany(MANY, r, which, MPI_STATUS_IGNORE);
		n = 1;
		break;
	case TESTANY:
		MPI_Testany(MANY, r, which, &n, MPI_STATUS_IGNORE);
		break;
	case WAITSOME:
		MPI_Waitsome(MANY, r, &n, which, MPI_STATUSES_IGNORE);
		break;
	case TESTSOME:
		MPI_Testsome(MANY, r, &n, which, MPI_STATUSES_IGNORE);
		break;
	default:
		if (way == WAITALL)
			MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
		else
			MPI_Testall(MANY, r, &flag, MPI_STATUSES_IGNORE);
		for (int i = 0; i < MANY && (way == WAITALL || flag); i++)
			look(w, target, i);
		return way == WAITALL || flag ? left : 0;
	}
	for (int k = 0; k < n; k++) {
		CHECK(r[which[k]] == MPI_REQUEST_NULL, "%s window: request %d is not null", w->name, which[k]);
		look(w, target, which[k]);
	}
	return n;
}

static void end_all(const struct window *w, int target, int way, MPI_Request r[]) {
	for (int left = MANY; left > 0;)
		left -= end_some(w, target, way, r, left);
}

static void body(struct window *w) {
	int *mem = w->mem;
	MPI_Request r[MANY];
	for (int i = 0; i < INTS; i++)
		mem[i] = value(w->rank, i);
	MPI_Barrier(w->comm);
	for (int k = 0; k < w->n; k++) {
		int target = (w->rank + 1 + k) % w->n;
		for (int way = 0; way < WAYS; way++) {
			MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
			start(w, target, r);
			if (way == TESTSOME)
				MPI_Win_flush(target, w->win);
			if (way != WAITSOME)
				end_all(w, target, way, r);
			MPI_Win_unlock(target, w->win);
			if (way == WAITSOME)
				end_all(w, target, way, r);
		}
	}
	/* All ranks put to different elements. */
	int target = (w->rank + 1) % w->n;
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < MANY; i++) {
		got[i][0] = -i;
		MPI_Rput(got[i], 1, MPI_INT, target, window_at(w, target, INTS - 1 - i), 1, MPI_INT, w->win, &r[i]);
	}
	MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int i = 0; i < MANY; i++)
		CHECK(mem[INTS - 1 - i] == -i, "%s window: put %d has brought %d", w->name, i, mem[INTS - 1 - i]);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
}

/* Completes requests after their window is freed. */
static void after_the_window(void) {
	struct window w = {.name = "freed", .comm = MPI_COMM_WORLD, .rank = check_rank, .n = check_size};
	MPI_Request r[MANY];
	int target = (check_rank + 1) % check_size, *mem = malloc(INTS * sizeof *mem);
	MPI_Win_create(mem, INTS * sizeof *mem, sizeof *mem, MPI_INFO_NULL, w.comm, &w.win);
	for (int i = 0; i < INTS; i++)
		mem[i] = value(check_rank, i);
	MPI_Barrier(w.comm);
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win);
	start(&w, target, r);
	MPI_Win_unlock(target, w.win);
	MPI_Win_free(&w.win);
	end_all(&w, target, WAITANY, r);
	free(mem);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * INTS, sizeof(int), MPI_COMM_WORLD, body);
	after_the_window();
	return check_end();
}
