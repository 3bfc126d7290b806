/* Proves: MPI_Accumulate and MPI_Get_accumulate give the same elements as a serial computation, on each window kind.
 *   Covers every predefined type and every operation allowed for it, MPI_REPLACE included; overflow wraps around. The
 *   ranks accumulate one after another, each to its right neighbour and to itself, so the order is known. MPI-5.0
 *   12.3.4, 6.9.2, 6.9.4
 * np: 1 2 3
 * args: integer unsigned fortran_integer floating complex logical pair multi other
 * ref: mpich
 * ref-wrong: unsigned (MPICH takes MIN and MAX of unsigned types as signed)
 * timeout: 60
 */
#include "../types.h"
#include "../windows.h"

enum { COUNT = 37, MOST = 32 /* size in bytes of the largest type */ };

static int classes, only_unsigned;
static struct window *window;

static void fill(const struct type *type, char *buffer, uint64_t seed) {
	memset(buffer, 0, COUNT * MOST);
	for (int i = 0; i < COUNT; i++)
		type->set(buffer + i * type->size, check_random(&seed));
}

static void compare(const struct type *type, int op, const char *what, const char *got, const char *want) {
	for (int i = 0; i < COUNT; i++)
		CHECK(type->equal(got + i * type->size, want + i * type->size),
		      "%s window, %s of %s: %s %d is %s, not %s", window->name, op_name[op], type->name, what, i,
		      types_show(type, got + i * type->size), types_show(type, want + i * type->size));
}

static void one(const struct type *type, int op) {
	struct window *w = window;
	static char start[COUNT * MOST] __attribute__((aligned(16))), first[COUNT * MOST] __attribute__((aligned(16)));
	static char second[COUNT * MOST] __attribute__((aligned(16))), want[COUNT * MOST] __attribute__((aligned(16)));
	static char before[COUNT * MOST] __attribute__((aligned(16))),
		fetched[COUNT * MOST] __attribute__((aligned(16)));
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	uint64_t seed = (uint64_t)op * 1000 + type->size;
	memset(fetched, 0, sizeof fetched);
	/* The window starts as start(rank). The left neighbour accumulates first(left); the rank itself accumulates
	 * second(rank). */
	fill(type, start, seed + w->rank);
	memcpy(w->mem, start, COUNT * type->size);
	fill(type, first, seed + 100 + w->rank);
	fill(type, second, seed + 200 + w->rank);
	MPI_Win_fence(0, w->win);
	MPI_Accumulate(first, COUNT, type->handle, right, 0, COUNT, type->handle, op_handle(op), w->win);
	MPI_Win_fence(0, w->win);
	MPI_Get_accumulate(second, COUNT, type->handle, fetched, COUNT, type->handle, w->rank, 0, COUNT, type->handle,
			   op_handle(op), w->win);
	MPI_Win_fence(0, w->win);
	memcpy(want, start, sizeof want);
	fill(type, first, seed + 100 + left);
	for (int i = 0; i < COUNT; i++)
		type->apply(op, want + i * type->size, first + i * type->size);
	memcpy(before, want, sizeof want);
	for (int i = 0; i < COUNT; i++)
		type->apply(op, want + i * type->size, second + i * type->size);
	compare(type, op, "fetched element", fetched, before);
	compare(type, op, "element", w->mem, want);
	MPI_Win_fence(0, w->win);
}

static void body(struct window *w) {
	window = w;
	for (int t = 0; t < types_count(); t++)
		for (int op = 0; op < OP_NO_OP; op++) {
			if (!(types[t].class & classes) || !op_allowed(op, types[t].class))
				continue;
			if (only_unsigned != (types[t].is_unsigned && (op == OP_MIN || op == OP_MAX)))
				continue;
			one(types + t, op);
		}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	only_unsigned = strcmp(check_arg, "unsigned") == 0;
	classes = only_unsigned ? CLASS_INTEGER : types_class_named(check_arg);
	windows_each(COUNT * MOST, 1, MPI_COMM_WORLD, body);
	return check_end();
}
