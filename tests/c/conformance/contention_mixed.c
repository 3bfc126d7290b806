/* Proves: all accumulate calls are atomic with respect to each other. Half of the ranks add to single elements with
 *   Fetch_and_op, Get_accumulate and Compare_and_swap. The other ranks add to all elements with large Accumulates. Each
 *   rank also adds to its own window, and the sum is exact. Tests every window kind with integers of 4 and 8 bytes and
 *   with doubles, also at an odd displacement. MPI-5.0 12.7.1
 * np: 1 2 4
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 20000, TIMES = 6 };

static MPI_Datatype type;
static int size, shift;

static void set(void *p, int value) {
	int32_t i = value;
	int64_t l = value;
	double d = value;
	memcpy(p, type == MPI_INT32_T ? (void *)&i : type == MPI_INT64_T ? (void *)&l : (void *)&d, size);
}

static int get(const void *p) {
	int32_t i;
	int64_t l;
	double d;
	if (type == MPI_INT32_T)
		return memcpy(&i, p, size), i;
	if (type == MPI_INT64_T)
		return memcpy(&l, p, size), (int)l;
	return memcpy(&d, p, size), (int)d;
}

static void single(struct window *w, int t, int i) {
	char one[8], old[8], seen[8], new[8];
	MPI_Aint at = shift + (MPI_Aint)i * size;
	set(one, 1);
	switch (i % 3) {
	case 0:
		MPI_Fetch_and_op(one, old, type, t, window_at(w, t, at), MPI_SUM, w->win);
		break;
	case 1:
		MPI_Get_accumulate(one, 1, type, old, 1, type, t, window_at(w, t, at), 1, type, MPI_SUM, w->win);
		break;
	case 2:
		if (type == MPI_DOUBLE) { /* Compare_and_swap does not take doubles */
			MPI_Accumulate(one, 1, type, t, window_at(w, t, at), 1, type, MPI_SUM, w->win);
			break;
		}
		MPI_Fetch_and_op(NULL, old, type, t, window_at(w, t, at), MPI_NO_OP, w->win);
		MPI_Win_flush(t, w->win);
		for (;;) {
			set(new, get(old) + 1);
			MPI_Compare_and_swap(new, old, seen, type, t, window_at(w, t, at), w->win);
			MPI_Win_flush(t, w->win);
			if (memcmp(seen, old, size) == 0)
				break;
			memcpy(old, seen, size);
		}
	}
	MPI_Win_flush(t, w->win);
}

static void body(struct window *w) {
	char *ones = malloc(COUNT * 8);
	for (int i = 0; i < COUNT; i++)
		set(ones + i * size, 1);
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	int singles = 0;
	for (int i = 0; i < TIMES; i++)
		for (int t = 0; t < w->n; t++) {
			if (w->rank % 2 == 0) {
				MPI_Accumulate(ones, COUNT, type, t, window_at(w, t, shift), COUNT, type, MPI_SUM,
					       w->win);
				MPI_Win_flush_local(t, w->win);
			} else {
				for (int k = 0; k < 30; k++)
					single(w, t, (singles + k) % 90);
			}
			if (t == w->n - 1)
				singles += 30;
		}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	int large = TIMES * ((w->n + 1) / 2), small = TIMES * 30 / 90 * (w->n / 2);
	for (int i = 0; i < COUNT; i++) {
		int got = get((char *)w->mem + shift + i * size), want = large + (i < 90 ? small : 0);
		CHECK(got == want, "%s window, %d bytes: element %d is %d, not %d", w->name, size, i, got, want);
	}
	MPI_Win_unlock(w->rank, w->win);
	free(ones);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (shift = 0; shift < 8; shift += 3) {
		type = MPI_INT32_T, size = 4;
		windows_each(COUNT * 8 + 16, 1, MPI_COMM_WORLD, body);
		type = MPI_INT64_T, size = 8;
		windows_each(COUNT * 8 + 16, 1, MPI_COMM_WORLD, body);
		type = MPI_DOUBLE, size = 8;
		windows_each(COUNT * 8 + 16, 1, MPI_COMM_WORLD, body);
	}
	return check_end();
}
