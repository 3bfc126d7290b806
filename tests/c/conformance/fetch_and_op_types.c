/* Proves: MPI_Fetch_and_op gives the same fetched value and the same target value as a serial computation. Covers every
 *   predefined type and every operation allowed for it, REPLACE and NO_OP included. Tests every window kind.
 *   MPI-5.0 12.3.4, 6.9.2, 6.9.4
 * np: 1 2 3
 * args: integer unsigned fortran_integer floating complex logical pair multi other
 * ref: mpich
 * ref-wrong: unsigned (MPICH takes MIN and MAX of unsigned types as signed)
 * timeout: 60
 */
#include "../types.h"
#include "../windows.h"

enum { PLACES = 8, MOST = 32 /* size in bytes of the largest type */ };

static int classes, only_unsigned;

static void one(struct window *w, const struct type *type, int op) {
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	char in[PLACES * MOST] __attribute__((aligned(16))) = {0},
			       fetched[PLACES * MOST] __attribute__((aligned(16))) = {0};
	char want[MOST] __attribute__((aligned(16))), start[MOST] __attribute__((aligned(16)));
	uint64_t seed = (uint64_t)op * 1000 + type->size, mine = seed + w->rank, origin = seed + 50 + w->rank;
	memset(w->mem, 0, PLACES * MOST);
	for (int i = 0; i < PLACES; i++) {
		type->set((char *)w->mem + i * type->size, check_random(&mine));
		type->set(in + i * type->size, check_random(&origin));
	}
	MPI_Win_fence(0, w->win);
	for (int i = 0; i < PLACES; i++)
		MPI_Fetch_and_op(in + i * type->size, fetched + i * type->size, type->handle, right, i * type->size,
				 op_handle(op), w->win);
	MPI_Win_fence(0, w->win);
	mine = seed + w->rank, origin = seed + 50 + left;
	uint64_t theirs = seed + right;
	for (int i = 0; i < PLACES; i++) {
		const char *got = (char *)w->mem + i * type->size;
		memset(want, 0, sizeof want);
		memset(start, 0, sizeof start);
		type->set(start, check_random(&theirs));
		CHECK(type->equal(fetched + i * type->size, start), "%s window, %s of %s: fetched %s, not %s", w->name,
		      op_name[op], type->name, types_show(type, fetched + i * type->size), types_show(type, start));
		type->set(want, check_random(&mine));
		type->set(start, check_random(&origin));
		type->apply(op, want, start);
		CHECK(type->equal(got, want), "%s window, %s of %s: the target holds %s, not %s", w->name, op_name[op],
		      type->name, types_show(type, got), types_show(type, want));
	}
	MPI_Win_fence(0, w->win);
}

static void body(struct window *w) {
	for (int t = 0; t < types_count(); t++)
		for (int op = 0; op < OPS; op++) {
			if (!(types[t].class & classes) || !op_allowed(op, types[t].class))
				continue;
			if (only_unsigned != (types[t].is_unsigned && (op == OP_MIN || op == OP_MAX)))
				continue;
			one(w, types + t, op);
		}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	only_unsigned = strcmp(check_arg, "unsigned") == 0;
	classes = only_unsigned ? CLASS_INTEGER : types_class_named(check_arg);
	windows_each(PLACES * MOST, 1, MPI_COMM_WORLD, body);
	return check_end();
}
