/* Proves: the predefined attributes of a window are right: base, size, displacement unit, flavor and memory model
 *   (unified or separate). The values are those of the calling rank. MPI_Win_get_attr reports a keyval without an
 *   attribute as not found. Tests every window kind. MPI-5.0 12.2.6
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"

static void *attribute(struct window *w, int keyval, const char *name) {
	void *value = NULL;
	int flag = 0;
	MPI_Win_get_attr(w->win, keyval, &value, &flag);
	CHECK(flag, "%s window: %s is not set", w->name, name);
	return flag ? value : NULL;
}

static void body(struct window *w) {
	int want = w->kind == KIND_ALLOCATE ? MPI_WIN_FLAVOR_ALLOCATE
		   : w->kind == KIND_SHARED ? MPI_WIN_FLAVOR_SHARED
					    : MPI_WIN_FLAVOR_CREATE;
	void *base = attribute(w, MPI_WIN_BASE, "MPI_WIN_BASE");
	MPI_Aint *size = attribute(w, MPI_WIN_SIZE, "MPI_WIN_SIZE");
	int *unit = attribute(w, MPI_WIN_DISP_UNIT, "MPI_WIN_DISP_UNIT");
	int *flavor = attribute(w, MPI_WIN_CREATE_FLAVOR, "MPI_WIN_CREATE_FLAVOR");
	int *model = attribute(w, MPI_WIN_MODEL, "MPI_WIN_MODEL");
	CHECK(w->size == 0 || base == w->mem, "%s window: base %p, not %p", w->name, base, w->mem);
	CHECK(size && *size == w->size, "%s window: size %lld, not %lld", w->name, size ? (long long)*size : -1,
	      (long long)w->size);
	CHECK(unit && *unit == w->unit, "%s window: unit %d, not %d", w->name, unit ? *unit : -1, w->unit);
	CHECK(flavor && *flavor == want, "%s window: flavor %d, not %d", w->name, flavor ? *flavor : -1, want);
	CHECK(model && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE), "%s window: model %d", w->name,
	      model ? *model : -1);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64 * (check_rank + 1), check_rank % 2 ? 8 : 1, MPI_COMM_WORLD, body);
	windows_each(check_rank % 2 ? 0 : 32, 4, MPI_COMM_WORLD, body);
	return check_end();
}
