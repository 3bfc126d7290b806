/* One origin's accumulates and fetches on overlapping ranges of elements are ordered without a flush between them.
 * Variant fields: all origins add to the same elements. Each element has a bit field per origin, to which only that
 * origin adds. Variant replace: only one origin accesses the window; it replaces elements.
 * Forbidden: a fetch, or the final contents, differ from a sequential run of this origin's operations (rar, raw, war,
 * waw). In the variant fields, only this origin's bit field is compared.
 * Runs with elements of several types and sizes, on each window kind. MPI-5.0 12.7.2
 * np: 2 4
 * args: fields replace
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 120, TIMES = 60, BATCH = 12 };

/* An element type. The functions number() and set() convert elements to and from integers. */
struct element {
	MPI_Datatype type;
	int size, bits; /* size in bytes; the type represents integers of `bits` bits exactly */
	char kind;      /* i: integer, f: float, d: double, l: long double */
};

static int64_t number(const struct element *e, const char *array, int i) {
	int64_t n = 0;
	float f;
	double d;
	long double l;
	const char *p = array + (size_t)i * e->size;
	switch (e->kind) {
	case 'f':
		return memcpy(&f, p, sizeof f), (int64_t)f;
	case 'd':
		return memcpy(&d, p, sizeof d), (int64_t)d;
	case 'l':
		return memcpy(&l, p, sizeof l), (int64_t)l;
	}
	return memcpy(&n, p, e->size), n; /* assumes little endian and a value >= 0 */
}

static void set(const struct element *e, char *array, int i, int64_t n) {
	float f = n;
	double d = n;
	long double l = n;
	void *from = e->kind == 'f'   ? (void *)&f
		     : e->kind == 'd' ? (void *)&d
		     : e->kind == 'l' ? (void *)&l
				      : (void *)&n;
	memcpy(array + (size_t)i * e->size, from, e->kind == 'l' ? sizeof l : (size_t)e->size);
}

struct step {
	int first, count, fetch;
	int64_t add;
	char *origin, *result;
	int64_t want[COUNT];
};

static void run(struct window *w, const struct element *e, int alone) {
	static struct step steps[BATCH];
	static int64_t model[COUNT];
	int origins = alone ? 1 : w->n, width = e->bits / origins;
	int64_t most = ((int64_t)1 << width) - 1, shift = (int64_t)1 << (alone ? 0 : width * w->rank);
	uint64_t state = 77 + w->rank;
	char *buffer = calloc(2 * BATCH, (size_t)COUNT * e->size);
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	memset(model, 0, sizeof model);
	for (int time = 0; time < TIMES && !(alone && w->rank != 1); time++) {
		for (int k = 0; k < BATCH; k++) {
			struct step *s = steps + k;
			s->origin = buffer + (size_t)(2 * k) * COUNT * e->size;
			s->result = s->origin + (size_t)COUNT * e->size;
			s->count = check_random(&state) % 3 == 0 ? 1 : 1 + (int)(check_random(&state) % COUNT);
			s->first = (int)(check_random(&state) % (COUNT - s->count + 1));
			s->fetch =
				(int)(check_random(&state) % 3); /* 0: accumulate, 1: get_accumulate, 2: only fetch */
			for (int i = 0; i < s->count; i++) {
				int64_t *m = model + s->first + i, add = 0;
				s->want[i] = *m;
				if (s->fetch != 2) {
					if (alone)
						*m = add = (int64_t)(check_random(&state) % (uint64_t)most);
					else if (*m < most)
						*m += add = 1;
				}
				set(e, s->origin, i, add * shift);
			}
			MPI_Aint at = window_at(w, 0, 0) + (MPI_Aint)s->first * e->size;
			MPI_Op op = alone ? MPI_REPLACE : MPI_SUM;
			if (s->fetch == 0)
				MPI_Accumulate(s->origin, s->count, e->type, 0, at, s->count, e->type, op, w->win);
			else if (s->count == 1)
				MPI_Fetch_and_op(s->origin, s->result, e->type, 0, at, s->fetch == 1 ? op : MPI_NO_OP,
						 w->win);
			else
				MPI_Get_accumulate(s->origin, s->count, e->type, s->result, s->count, e->type, 0, at,
						   s->count, e->type, s->fetch == 1 ? op : MPI_NO_OP, w->win);
		}
		MPI_Win_flush(0, w->win);
		for (int k = 0; k < BATCH; k++)
			for (int i = 0; i < steps[k].count && steps[k].fetch; i++) {
				int64_t got = number(e, steps[k].result, i) / shift & (alone ? INT64_MAX : most);
				if (got != steps[k].want[i]) {
					CHECK(0,
					      "%s window, %d bytes (%c): batch %d, operation %d, element %d: fetched "
					      "%lld, not %lld",
					      w->name, e->size, e->kind, time, k, steps[k].first + i, (long long)got,
					      (long long)steps[k].want[i]);
					break;
				}
			}
	}
	MPI_Win_flush_all(w->win);
	if (!(alone && w->rank != 1)) {
		MPI_Get_accumulate(NULL, 0, e->type, buffer, COUNT, e->type, 0, window_at(w, 0, 0), COUNT, e->type,
				   MPI_NO_OP, w->win);
		MPI_Win_flush(0, w->win);
		for (int i = 0; i < COUNT; i++) {
			int64_t got = number(e, buffer, i) / shift & (alone ? INT64_MAX : most);
			CHECK(got == model[i], "%s window, %d bytes (%c): element %d ends at %lld, not %lld", w->name,
			      e->size, e->kind, i, (long long)got, (long long)model[i]);
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	free(buffer);
}

static void body(struct window *w) {
	const struct element elements[] = {
		{MPI_INT8_T, 1, 7, 'i'},
		{MPI_UINT16_T, 2, 15, 'i'},
		{MPI_INT32_T, 4, 31, 'i'},
		{MPI_INT64_T, 8, 62, 'i'},
		{MPI_FLOAT, 4, 24, 'f'},
		{MPI_DOUBLE, 8, 53, 'd'},
		{MPI_LONG_DOUBLE, sizeof(long double), 62, 'l'},
	};
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		run(w, elements + i, strcmp(check_arg, "replace") == 0);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(COUNT * 16, 1, MPI_COMM_WORLD, body);
	return check_end();
}
