/* Proves: operations on target datatypes with overlapping entries have one defined outcome. MPI calls such datatypes
 *   erroneous, but libraries for global arrays use them. The entries are applied in the order of the datatype: a put
 *   leaves the last entry, and an accumulate applies every entry. A fetching call returns for each entry the value
 *   before its own update. The origin datatype of a get is treated the same. Covers few, many and very many entries:
 *   repeated entries, entries shifted by less than an element, vectors, lists, structures, and copies at a distance
 *   below their length. Tests every window kind, and memory attached in several regions. MPI-5.0 12.3; gompirma
 *   promises this order
 * np: 1 4
 * args: put_lock put_fence get_lock accumulate_lock accumulate_fence fetch_lock fetch_fence together in_place
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * ref-wrong: fetch_lock fetch_fence in_place (MPICH fetches for all entries before the first update)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { PAGE = 4096, WINDOW = 11 * PAGE + 272, MOST = 3000, LARGEST = 16 };
enum { PIECE = 3024, PIECES = 15 }; /* PIECE is a multiple of LARGEST, but not of the page size */

/* The element types. handle() returns the datatype of an element type, and operation() the operation that updates
 * it. */
static const struct element {
	const char *name;
	int size;
	int torn; /* true if entries may overlap by a part of an element: any bytes are a valid value */
} elements[] = {{"int", sizeof(int), 1},       {"byte", 1, 0},
		{"short", sizeof(short), 1},   {"double", sizeof(double), 0},
		{"int64", sizeof(int64_t), 1}, {"long double", sizeof(long double), 0},
		{"double_int", LARGEST, 0}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static MPI_Datatype handle(int e) {
	const MPI_Datatype types[ELEMENTS] = {MPI_INT,     MPI_BYTE,        MPI_SHORT,     MPI_DOUBLE,
					      MPI_INT64_T, MPI_LONG_DOUBLE, MPI_DOUBLE_INT};
	return types[e];
}

static void value(int e, int i, void *to) {
	struct {
		double value;
		int at;
	} pair = {(i * 37) % 11, i % 1000};
	memset(to, 0, (size_t)elements[e].size);
	switch (e) {
	case 0:
		*(int *)to = i * 7919 + 1;
		break;
	case 1:
		*(char *)to = (char)(i * 37 + 1);
		break;
	case 2:
		*(short *)to = (short)(i * 31 + 1);
		break;
	case 3:
		*(double *)to = i + 0.5;
		break;
	case 4:
		*(int64_t *)to = (int64_t)i * 1000003 + 1;
		break;
	case 5:
		*(long double *)to = i + 0.25L;
		break;
	default:
		memcpy(to, &pair, sizeof pair);
	}
}

enum { REPLACE, UPDATE };

static MPI_Op operation(int e, int op) {
	return op == REPLACE ? MPI_REPLACE : e == 1 ? MPI_BXOR : e == 6 ? MPI_MAXLOC : MPI_SUM;
}

/* Computes target = target op origin, on memory of any alignment. */
static void apply(int e, int op, const void *origin, void *target) {
	union {
		int i;
		short s;
		double d;
		int64_t l;
		long double x;
		struct {
			double value;
			int at;
		} p;
		char c[LARGEST];
	} a, b;
	memcpy(&a, origin, (size_t)elements[e].size);
	memcpy(&b, target, (size_t)elements[e].size);
	if (op == REPLACE) {
		if (e == 6)
			b.p.value = a.p.value, b.p.at = a.p.at; /* the gap after the pair is not written */
		else
			b = a;
	} else {
		switch (e) {
		case 0:
			b.i = (int)((unsigned)b.i + (unsigned)a.i);
			break;
		case 1:
			b.c[0] ^= a.c[0];
			break;
		case 2:
			b.s = (short)(b.s + a.s);
			break;
		case 3:
			b.d += a.d;
			break;
		case 4:
			b.l = (int64_t)((uint64_t)b.l + (uint64_t)a.l);
			break;
		case 5:
			b.x += a.x;
			break;
		default:
			if (a.p.value > b.p.value || (a.p.value == b.p.value && a.p.at < b.p.at))
				b.p.value = a.p.value, b.p.at = a.p.at;
		}
	}
	memcpy(target, &b, (size_t)elements[e].size);
}

/* A shape: count copies of a type, with n entries in total. Entry i begins at[i] bytes after the base address. */
enum { TWICE, SAME_PLACE, VECTOR, SHIFTED, COPIES, COPIES_BACK, BLOCKS, STRUCTURE, LONG, SHAPES };
static const char *const shape_name[] = {"list with repetitions",
					 "vector of stride 0",
					 "vector of blocks",
					 "vector of torn entries",
					 "copies close together",
					 "copies close together, backwards",
					 "blocks of all lengths",
					 "structure",
					 "long blocks"};

struct shape {
	MPI_Datatype type;
	int count, n;
	MPI_Aint at[MOST], low, high; /* offsets from the base address: all bytes lie in [low, high) */
};

static void entries(struct shape *s, MPI_Aint at, int n, int size) {
	for (int i = 0; i < n; i++)
		s->at[s->n++] = at + i * (MPI_Aint)size;
}

static void lists(struct shape *s, int e, int n, int most, uint64_t *seed) {
	int size = elements[e].size, lengths[MOST], k = 0;
	MPI_Aint at[MOST];
	while (s->n < n) {
		lengths[k] = 1 + (int)(check_random(seed) % (uint64_t)most);
		if (lengths[k] > n - s->n)
			lengths[k] = n - s->n;
		at[k] = (MPI_Aint)(check_random(seed) % (uint64_t)(n / 3 + 1)) * size;
		entries(s, at[k], lengths[k], size);
		k++;
	}
	MPI_Type_create_hindexed(k, lengths, at, handle(e), &s->type);
}

/* Creates shape number `which` with about n entries of element type e. */
static void shape_make(struct shape *s, int which, int e, int n, uint64_t *seed) {
	MPI_Datatype block;
	MPI_Aint size = elements[e].size, step;
	s->count = 1;
	s->n = 0;
	switch (which) {
	case TWICE:
		lists(s, e, n, 1, seed);
		break;
	case SAME_PLACE:
		MPI_Type_create_hvector(n, 1, 0, handle(e), &s->type);
		for (int i = 0; i < n; i++)
			entries(s, 0, 1, 0);
		break;
	case VECTOR: /* blocks of four elements that begin two elements apart */
		MPI_Type_vector(n / 4, 4, 2, handle(e), &s->type);
		for (int i = 0; i < n / 4; i++)
			entries(s, i * 2 * size, 4, (int)size);
		break;
	case SHIFTED:
		MPI_Type_create_hvector(n, 1, size / 2, handle(e), &s->type);
		entries(s, 0, n, (int)size / 2);
		break;
	case COPIES:
	case COPIES_BACK:
		step = which == COPIES ? size : -size;
		MPI_Type_vector(4, 1, 2, handle(e), &block); /* each copy begins in a gap of the previous copy */
		MPI_Type_create_resized(block, 0, step, &s->type);
		MPI_Type_free(&block);
		s->count = n / 4;
		for (int i = 0; i < n / 4; i++)
			entries(s, i * step, 4, 2 * (int)size);
		break;
	case BLOCKS:
		lists(s, e, n, 9, seed);
		break;
	case STRUCTURE: {
		struct shape inner = {0};
		int lengths[3] = {1, n / 4, 2};
		MPI_Aint at[3] = {2 * size, 0, size};
		lists(&inner, e, n / 2, 3, seed);
		MPI_Datatype types[3] = {inner.type, handle(e), inner.type};
		MPI_Type_get_extent(inner.type, &(MPI_Aint){0}, &step);
		MPI_Type_create_struct(3, lengths, at, types, &s->type);
		for (int i = 0; i < inner.n; i++)
			s->at[s->n++] = inner.at[i] + at[0];
		entries(s, 0, n / 4, (int)size);
		for (int k = 0; k < 2; k++)
			for (int i = 0; i < inner.n && s->n < MOST; i++)
				s->at[s->n++] = inner.at[i] + at[2] + k * step;
		MPI_Type_free(&inner.type);
		break;
	}
	default: { /* LONG: few blocks; with many entries, each block exceeds one message */
		int length = n / 3;
		MPI_Type_contiguous(length, handle(e), &block);
		MPI_Type_create_hvector(3, 1, (length - length / 4) * size, block, &s->type);
		MPI_Type_free(&block);
		for (int i = 0; i < 3; i++)
			entries(s, i * (length - length / 4) * size, length, (int)size);
	}
	}
	MPI_Type_commit(&s->type);
	s->low = s->high = s->at[0];
	for (int i = 0; i < s->n; i++) {
		if (s->at[i] < s->low)
			s->low = s->at[i];
		if (s->at[i] + size > s->high)
			s->high = s->at[i] + size;
	}
}

static char expected[MOST * LARGEST], origin[MOST * LARGEST], result[MOST * LARGEST], fetched[MOST * LARGEST];
static char initial[ELEMENTS][PIECES * PIECE]; /* the window's memory before each operation */

static void make_initial(void) {
	for (int e = 0; e < ELEMENTS; e++)
		for (int i = 0; i < PIECES * PIECE / elements[e].size; i++)
			value(e, i + 5, initial[e] + (MPI_Aint)i * elements[e].size);
}

static int fence(void) { return strstr(check_arg, "_fence") != NULL; }

/* Returns 0 if found and wanted are equal except in the gaps of pairs and long doubles, else 1 + the index of the first
 * element that differs. */
static int differs(int e, const char *found, const char *wanted, int n) {
	int data = e == 5 ? 10 : e == 6 ? 12 : elements[e].size;
	if (memcmp(found, wanted, (size_t)n * (size_t)elements[e].size) == 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (memcmp(found + (MPI_Aint)i * elements[e].size, wanted + (MPI_Aint)i * elements[e].size,
			   (size_t)data) != 0)
			return i + 1;
	return 0;
}

enum { PUT, GET, ACCUMULATE, FETCH };

/* Makes one operation on the right neighbour in each rank. Compares its effect with that of a loop over the entries. */
static void one(struct window *w, int call, int e, int op, const struct shape *s, MPI_Aint place) {
	int size = elements[e].size, right = (w->rank + 1) % w->n, count = s->n;
	char *mem = w->mem, *mine = call == GET ? result : mem;
	MPI_Aint at = (place - s->low) / size * size, bytes = call == GET ? (MPI_Aint)sizeof result : w->size;
	MPI_Datatype t = handle(e);
	if (at + s->high > w->size)
		at = (w->size - s->high) / size * size;
	memcpy(mem, initial[e], (size_t)(w->size / size * size));
	for (int i = 0; i < count; i++)
		value(e, 3 * i + 2, origin + (MPI_Aint)i * size);
	memset(result, 0, sizeof result);
	memset(fetched, 0, sizeof fetched);
	/* Every rank does the same operation, so the neighbour's result equals the result computed here. */
	memcpy(expected, mine, (size_t)bytes);
	for (int i = 0; i < count; i++) {
		char *to = expected + s->at[i] + (call == GET ? -s->low : at);
		memcpy(fetched + (MPI_Aint)i * size, to, (size_t)size);
		if (call == GET)
			apply(e, REPLACE, mem + (MPI_Aint)i * size, to);
		else if (call == PUT || op >= 0)
			apply(e, call == PUT ? REPLACE : op, origin + (MPI_Aint)i * size, to);
	}
	MPI_Aint disp = window_at(w, right, at);
	if (fence()) {
		MPI_Win_fence(0, w->win);
	} else {
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win);
	}
	if (call == PUT)
		CHECK_OK(MPI_Put(origin, count, t, right, disp, s->count, s->type, w->win));
	else if (call == GET)
		CHECK_OK(MPI_Get(result - s->low, s->count, s->type, right, window_at(w, right, 0), count, t, w->win));
	else if (call == ACCUMULATE)
		CHECK_OK(MPI_Accumulate(origin, count, t, right, disp, s->count, s->type, operation(e, op), w->win));
	else
		CHECK_OK(MPI_Get_accumulate(origin, count, t, result, count, t, right, disp, s->count, s->type,
					    op < 0 ? MPI_NO_OP : operation(e, op), w->win));
	if (fence()) {
		MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	} else {
		MPI_Win_unlock(right, w->win);
		MPI_Barrier(w->comm);
	}
	int wrong = differs(e, mine, expected, (int)(bytes / size));
	CHECK(!wrong, "element %d of memory", wrong - 1);
	if (call == FETCH && (wrong = differs(e, result, fetched, count)))
		CHECK(0, "result %d of %d, entry at byte %ld", wrong - 1, count, (long)(at + s->at[wrong - 1]));
	if (!fence())
		MPI_Barrier(w->comm); /* all ranks have read their memory */
}

static int whole; /* true if the memory consists of attached regions, where no element may lie in two regions */

static void neighbours(struct window *w) {
	static const int numbers[] = {8, 120, MOST / 2};
	int call = strncmp(check_arg, "put", 3) == 0   ? PUT
		   : strncmp(check_arg, "get", 3) == 0 ? GET
		   : strncmp(check_arg, "acc", 3) == 0 ? ACCUMULATE
						       : FETCH;
	static struct shape s;
	uint64_t seed = 3;
	for (int e = 0; e < ELEMENTS; e++)
		for (int which = 0; which < SHAPES; which++)
			for (unsigned k = 0; k < 3; k++) {
				if ((which == SHIFTED && (!elements[e].torn || whole)) ||
				    (k == 2 && (e + which) % 3 != 0)) /* MOST / 2 entries: only a third of the cases */
					continue;
				for (int op = call == FETCH ? -1 : REPLACE;
				     op <= (call == PUT || call == GET ? REPLACE : UPDATE); op++) {
					shape_make(&s, which, e, numbers[k], &seed);
					MPI_Aint place = (MPI_Aint)(check_random(&seed) % PAGE);
					if (call == GET && s.high - s.low > (MPI_Aint)sizeof result)
						continue;
					int errors = check_errors;
					one(w, call, e, op, &s, place);
					CHECK(errors == check_errors,
					      "... %s window: %s, %d entries of %s, operation %d, at %ld", w->name,
					      shape_name[which], s.n, elements[e].name, op, (long)place);
					MPI_Type_free(&s.type);
				}
			}
}

/* Adds to the same entries from all ranks at once; no update may be lost. */
static void together(struct window *w) {
	static struct shape s;
	static const int numbers[] = {8, 120, MOST / 2};
	uint64_t seed = 7;
	int *mem = w->mem, ones[MOST], times[MOST * LARGEST / sizeof(int)];
	for (int i = 0; i < MOST; i++)
		ones[i] = 1;
	for (int which = 0; which < SHAPES; which++)
		for (unsigned k = 0; k < 3; k++) {
			if (which == SHIFTED)
				continue;
			shape_make(&s, which, 0, numbers[k], &seed);
			MPI_Aint up = s.low < 0 ? -s.low : 0;
			memset(times, 0, sizeof times);
			for (int i = 0; i < s.n; i++)
				times[(s.at[i] + up) / (MPI_Aint)sizeof(int)]++;
			memset(mem, 0, (size_t)w->size);
			MPI_Win_fence(0, w->win);
			for (int i = 0; i < 5; i++)
				CHECK_OK(MPI_Accumulate(ones, s.n, MPI_INT, 0, window_at(w, 0, up), s.count, s.type,
							MPI_SUM, w->win));
			MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
			for (int i = 0; w->rank == 0 && i < (int)(w->size / (MPI_Aint)sizeof(int)); i++)
				if (mem[i] != times[i] * 5 * w->n) {
					CHECK(0, "%s window: %s of %d: element %d is %d, not %d", w->name,
					      shape_name[which], s.n, i, mem[i], times[i] * 5 * w->n);
					break;
				}
			MPI_Barrier(w->comm);
			MPI_Type_free(&s.type);
		}
}

static void body(struct window *w) {
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	if (strcmp(check_arg, "together") == 0)
		together(w);
	else
		neighbours(w);
}

/* Tests a dynamic window whose memory is attached in several regions, with operations that access more than one. */
static void pieces(void) {
	struct window w = {.name = "pieces",
			   .size = PIECES * PIECE,
			   .unit = 1,
			   .comm = MPI_COMM_WORLD,
			   .rank = check_rank,
			   .n = check_size};
	if (check_kind)
		return;
	whole = 1;
	MPI_Win_create_dynamic(MPI_INFO_NULL, w.comm, &w.win);
	w.mem = malloc((size_t)w.size);
	w.at = malloc(w.n * sizeof *w.at);
	for (int i = 0; i < PIECES; i++)
		MPI_Win_attach(w.win, (char *)w.mem + (i * 7) % PIECES * PIECE, PIECE);
	MPI_Get_address(w.mem, &w.at[w.rank]);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, w.at, 1, MPI_AINT, w.comm);
	body(&w);
	MPI_Barrier(w.comm);
	for (int i = 0; i < PIECES; i++)
		MPI_Win_detach(w.win, (char *)w.mem + i * PIECE);
	MPI_Win_free(&w.win);
	free(w.mem);
	free(w.at);
}

int main(int argc, char **argv) {
	_Static_assert(WINDOW <= sizeof initial[0], "");
	check_begin(&argc, &argv);
	make_initial();
	if (strcmp(check_arg, "in_place") == 0) {
		static const char *const calls[] = {"put_lock", "accumulate_lock", "accumulate_fence", "fetch_lock",
						    "together"};
		MPI_Info_create(&windows_info);
		MPI_Info_set(windows_info, "gompirma_share_in_place", "true");
		for (int i = 0; i < 5; i++) {
			check_arg = calls[i];
			windows_one(KIND_MALLOC, WINDOW, 1, MPI_COMM_WORLD, body);
			windows_one(KIND_STATIC, WINDOW, 1, MPI_COMM_WORLD, body);
		}
		MPI_Info_free(&windows_info);
		return check_end();
	}
	windows_each(WINDOW, 1, MPI_COMM_WORLD, body);
	pieces();
	return check_end();
}
