/* Proves: accumulates are atomic per element. All ranks accumulate to the same elements at once under lock_all,
 *   with small and large counts and in different orders. No contribution is lost, for each type and on each window
 *   kind. MPI-5.0 12.7.1
 * np: 2 4
 * args: integer fortran_integer floating complex multi
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../types.h"
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 512, MOST = 32, TIMES = 12 };

static int classes;

static void one(struct window *w, const struct type *type) {
	static char ones[COUNT * MOST] __attribute__((aligned(16))), want[MOST] __attribute__((aligned(16)));
	char unit[MOST] __attribute__((aligned(16))) = {0};
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	memset(w->mem, 0, COUNT * MOST);
	MPI_Win_unlock(w->rank, w->win);
	/* Search for a random element that is not zero. Sums of copies of this element are exact in every type. */
	for (uint64_t seed = 3; type->equal(unit, want); seed++) {
		uint64_t state = seed;
		memset(want, 0, sizeof want);
		type->set(unit, check_random(&state));
	}
	for (int i = 0; i < COUNT; i++)
		memcpy(ones + i * type->size, unit, type->size);
	memset(want, 0, sizeof want);
	for (int i = 0; i < TIMES * w->n; i++)
		type->apply(OP_SUM, want, unit);

	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < TIMES; i++) {
		for (int k = 0; k < w->n; k++) {
			int t = (w->rank + k) % w->n;
			/* accumulates to each element once, in blocks whose sizes differ by rank and round */
			for (int at = 0; at < COUNT;) {
				int step = (i + w->rank) % 3 == 0 ? COUNT : (i + w->rank) % 3 == 1 ? 100 : 37;
				step = step < COUNT - at ? step : COUNT - at;
				MPI_Accumulate(ones, step, type->handle, t, window_at(w, t, at * type->size), step,
					       type->handle, MPI_SUM, w->win);
				at += step;
			}
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	for (int i = 0; i < COUNT; i++)
		CHECK(type->equal((char *)w->mem + i * type->size, want), "%s window, %s: element %d is %s, not %s",
		      w->name, type->name, i, types_show(type, (char *)w->mem + i * type->size),
		      types_show(type, want));
	MPI_Win_unlock(w->rank, w->win);
	memset(want, 0, sizeof want);
}

static void body(struct window *w) {
	for (int t = 0; t < types_count(); t++)
		if (types[t].class & classes)
			one(w, types + t);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	classes = types_class_named(check_arg);
	windows_each(COUNT * MOST, 1, MPI_COMM_WORLD, body);
	return check_end();
}
