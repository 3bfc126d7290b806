/* Proves: no operation reads or writes the gaps inside pair types. Origin, result and window memory may end with the
 *   last data byte of the last element, with nothing mapped after it. Gaps keep their contents in the result buffer and
 *   at the target. Covers few and many elements, contiguous and with gaps between them. Covers windows whose memory is
 *   mapped at the origin, and windows whose memory is not. MPI-5.0 6.9.4 12.3
 * np: 1 2
 * args: put get accumulate get_accumulate fetch_and_op
 * ref: none (MPICH reads and writes gaps)
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../check.h"

#include <sys/mman.h>

enum { MOST = 3000, AREA = 3 * 65536, IN_ORIGIN = 0x99, IN_RESULT = 0x5a, IN_WINDOW = 0xc3 };

/* Returns a buffer of AREA bytes with nothing mapped after it. */
static char *area(void) {
	char *p = mmap(NULL, AREA + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + AREA, 65536, PROT_NONE) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return p;
}

struct double_int {
	double v;
	int i;
};
struct long_int {
	long v;
	int i;
};
struct short_int {
	short v;
	int i;
};
struct float_int {
	float v;
	int i;
};
struct long_double_int {
	long double v;
	int i;
};

struct pair {
	MPI_Datatype type;
	const char *name;
	int extent, value, index; /* the value is at bytes 0 to value - 1, the 4-byte index at offset `index` */
};

#define ROW(mpi, c) \
	{ mpi, #mpi, sizeof(struct c), sizeof(((struct c *)0)->v), offsetof(struct c, i) }
static const struct pair pairs[] = {ROW(MPI_DOUBLE_INT, double_int), ROW(MPI_LONG_INT, long_int),
				    ROW(MPI_SHORT_INT, short_int), ROW(MPI_FLOAT_INT, float_int),
				    ROW(MPI_LONG_DOUBLE_INT, long_double_int)};

/* Stores an element. The address may be unaligned: buffers end at a page boundary, but the size of an element's data
 * need not be a multiple of its alignment. */
static void store(const struct pair *p, char *at, int value, int index) {
#define STORE(mpi, c)                         \
	if (p->type == mpi) {                 \
		struct c x = {.v = value};    \
		memcpy(at, &x.v, sizeof x.v); \
	}
	STORE(MPI_DOUBLE_INT, double_int)
	STORE(MPI_LONG_INT, long_int)
	STORE(MPI_SHORT_INT, short_int)
	STORE(MPI_FLOAT_INT, float_int)
	STORE(MPI_LONG_DOUBLE_INT, long_double_int)
	memcpy(at + p->index, &index, sizeof index);
}

static int value_of(const struct pair *p, const char *at) {
#define LOAD(mpi, c)                          \
	if (p->type == mpi) {                 \
		struct c x;                   \
		memcpy(&x.v, at, sizeof x.v); \
		return (int)x.v;              \
	}
	LOAD(MPI_DOUBLE_INT, double_int)
	LOAD(MPI_LONG_INT, long_int)
	LOAD(MPI_SHORT_INT, short_int)
	LOAD(MPI_FLOAT_INT, float_int)
	LOAD(MPI_LONG_DOUBLE_INT, long_double_int)
	return -1;
}

static int index_of(const struct pair *p, const char *at) {
	int index;
	memcpy(&index, at + p->index, sizeof index);
	return index;
}

/* A buffer of n elements at a fixed distance in bytes. The buffer ends with the data of the last element. */
struct layout {
	const struct pair *p;
	int n, distance;
	MPI_Datatype type;
	int count;
	MPI_Aint bytes;
};

static int target_value(int k) { return k % 7; }
static int target_index(int k) { return k % 5; }
static int origin_value(int k) { return k * 3 % 7; }
static int origin_index(int k) { return k * 2 % 5; }

static void fill(const struct layout *l, char *at, int gap, int (*value)(int), int (*index)(int)) {
	memset(at, gap, (size_t)l->bytes);
	for (int k = 0; value && k < l->n; k++)
		store(l->p, at + k * l->distance, value(k), index(k));
}

static void check(const struct layout *l, const char *what, const char *kind, MPI_Op op, const char *at, int gap,
		  int combined) {
	const struct pair *p = l->p;
	for (int k = 0; k < l->n; k++) {
		int tv = target_value(k), ti = target_index(k), ov = origin_value(k), oi = origin_index(k), take = 0;
		if (op == MPI_MAXLOC)
			take = ov > tv || (ov == tv && oi < ti);
		else if (op == MPI_MINLOC)
			take = ov < tv || (ov == tv && oi < ti);
		else
			take = op == MPI_REPLACE;
		take = take && combined;
		const char *x = at + k * l->distance;
		int v = value_of(p, x), i = index_of(p, x);
		CHECK(v == (take ? ov : tv) && i == (take ? oi : ti),
		      "%s, %s window, %d of %s: element %d is (%d, %d), not (%d, %d)", what, kind, l->n, p->name, k, v,
		      i, take ? ov : tv, take ? oi : ti);
		int end = k < l->n - 1 ? l->distance : p->index + (int)sizeof(int);
		for (int b = p->value; b < end; b++)
			if (b < p->index || b >= p->index + (int)sizeof(int))
				CHECK((unsigned char)x[b] == gap,
				      "%s, %s window, %d of %s: byte %d of element %d, in a gap, is %#x, not %#x", what,
				      kind, l->n, p->name, b, k, (unsigned char)x[b], gap);
	}
}

enum { CREATE, ALLOC_MEM, ALLOCATE, KINDS };
static const char *const kind_name[KINDS] = {"malloc", "alloc_mem", "allocate"};

static void test(int kind, const struct layout *l, char *origin, char *result, char *memory) {
	static const MPI_Op ops[] = {MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
	int target = (check_rank + 1) % check_size, put = strcmp(check_arg, "put") == 0,
	    get = strcmp(check_arg, "get") == 0, accumulate = strcmp(check_arg, "accumulate") == 0,
	    fetch = strcmp(check_arg, "fetch_and_op") == 0;
	char *base = memory;
	MPI_Win win;
	if (kind == ALLOC_MEM)
		MPI_Alloc_mem(l->bytes, MPI_INFO_NULL, &base);
	if (kind == ALLOCATE)
		MPI_Win_allocate(l->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	else
		MPI_Win_create(base, l->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int o = 0; o < (put || get ? 1 : accumulate ? 3 : 4); o++) {
		MPI_Op op = put ? MPI_REPLACE : get ? MPI_NO_OP : ops[o];
		fill(l, base, IN_WINDOW, target_value, target_index);
		fill(l, origin, IN_ORIGIN, origin_value, origin_index);
		fill(l, result, IN_RESULT, NULL, NULL);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
		if (put)
			MPI_Put(origin, l->count, l->type, target, 0, l->count, l->type, win);
		else if (get)
			MPI_Get(result, l->count, l->type, target, 0, l->count, l->type, win);
		else if (accumulate)
			MPI_Accumulate(origin, l->count, l->type, target, 0, l->count, l->type, op, win);
		else if (fetch)
			MPI_Fetch_and_op(origin, result, l->type, target, 0, op, win);
		else
			MPI_Get_accumulate(origin, l->count, l->type, result, l->count, l->type, target, 0, l->count,
					   l->type, op, win);
		MPI_Win_unlock(target, win);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
		check(l, "target", kind_name[kind], op, base, IN_WINDOW, 1);
		if (!put && !accumulate)
			check(l, "result", kind_name[kind], op, result, IN_RESULT, 0);
		MPI_Win_unlock(check_rank, win);
	}
	MPI_Win_free(&win);
	if (kind == ALLOC_MEM)
		MPI_Free_mem(base);
}

int main(int argc, char **argv) {
	static const int numbers[] = {1, 3, 50, 100, MOST};
	check_begin(&argc, &argv);
	char *origin = area(), *result = area(), *memory = area();
	for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			for (int apart = 0; apart < 2; apart++) {
				struct layout l = {.p = &pairs[p],
						   .n = numbers[i],
						   .distance = (1 + apart) * pairs[p].extent,
						   .type = pairs[p].type,
						   .count = numbers[i]};
				if (strcmp(check_arg, "fetch_and_op") == 0 && (l.n > 1 || apart))
					continue;
				l.bytes = (l.n - 1) * l.distance + l.p->index + (int)sizeof(int);
				if (apart) {
					MPI_Type_create_hvector(l.n, 1, l.distance, pairs[p].type, &l.type);
					MPI_Type_commit(&l.type);
					l.count = 1;
				}
				for (int kind = 0; kind < KINDS; kind++)
					test(kind, &l, origin + AREA - l.bytes, result + AREA - l.bytes,
					     memory + AREA - l.bytes);
				if (apart)
					MPI_Type_free(&l.type);
			}
	return check_end();
}
