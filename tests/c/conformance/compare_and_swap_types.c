/* Proves: MPI_Compare_and_swap works for every type it is defined for (C and Fortran integers, logical, multi-language
 *   types, byte) and for characters. It swaps if and only if all bytes agree, and fetches the old value. Neighbouring
 *   elements do not change. Tests every window kind. MPI-5.0 12.3.4
 * np: 1 2 3
 * ref: mpich
 * timeout: 60
 */
#include "../types.h"
#include "../windows.h"

enum { PLACES = 5 };

static void one(struct window *w, const struct type *type) {
	int right = (w->rank + 1) % w->n;
	size_t size = type->size;
	char *mem = w->mem, *mine = mem + 2 * size, expect[16], new[16], other[16], fetched[2][16];
	memset(mem, 0x11, PLACES * size);
	memset(mine, type->class == CLASS_LOGICAL ? 0 : 0x22, size);
	memcpy(expect, mine, size);
	memset(new, 0, sizeof new);
	memset(other, 0, sizeof other);
	new[0] = 1;
	other[size - 1] = 1; /* differs from new in the lowest and the highest byte only */
	MPI_Win_fence(0, w->win);
	MPI_Compare_and_swap(new, expect, fetched[0], type->handle, right, 2, w->win);
	MPI_Win_fence(0, w->win);
	CHECK(memcmp(fetched[0], expect, size) == 0, "%s window, %s: fetched %s, not %s", w->name, type->name,
	      types_show(type, fetched[0]), types_show(type, expect));
	CHECK(memcmp(mine, new, size) == 0, "%s window, %s: not swapped: %s", w->name, type->name,
	      types_show(type, mine));
	int differs = memcmp(new, other, size) != 0; /* false for one-byte types, where other equals new */
	MPI_Win_fence(0, w->win);
	MPI_Compare_and_swap(expect, other, fetched[1], type->handle, right, 2, w->win);
	MPI_Win_fence(0, w->win);
	CHECK(memcmp(fetched[1], new, size) == 0, "%s window, %s: fetched %s, not %s", w->name, type->name,
	      types_show(type, fetched[1]), types_show(type, new));
	CHECK(memcmp(mine, differs ? new : expect, size) == 0, "%s window, %s: a compare value that differs left %s",
	      w->name, type->name, types_show(type, mine));
	for (size_t i = 0; i < PLACES * size; i++)
		CHECK(i / size == 2 || mem[i] == 0x11, "%s window, %s: byte %d beside the target changed", w->name,
		      type->name, (int)i);
	MPI_Win_fence(0, w->win);
}

static const struct type *current;

static void body(struct window *w) { one(w, current); }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int t = 0; t < types_count(); t++) {
		current = types + t;
		if (current->class & (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_LOGICAL | CLASS_MULTI | CLASS_BYTE |
				      CLASS_CHARACTER))
			windows_each(64, current->size, MPI_COMM_WORLD, body);
	}
	return check_end();
}
