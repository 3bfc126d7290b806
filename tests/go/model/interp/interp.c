/* interp DIR: executes the programs in DIR/program.txt, whose data is in DIR/program.bin, and writes DIR/out.RANK.
 * After each phase it writes the memory of the phase's window and the result buffers, in the order of program.go. It
 * checks only properties that cannot be checked from this output. When an operation is locally complete, its results
 * must be present and must not change afterwards, and the library must not read its origin buffer any more. The bytes
 * around the windows must not change. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GUARD = 64, WORD = 64, STATIC_BYTES = 2 << 20, RESULT_FILL = 0xa5, SCRIBBLE = 0xee };

static int world, size, errors;
static long seed;
static const char *text; /* the next word of the program */
static const unsigned char *data;
static FILE *out;
static char static_memory[STATIC_BYTES] __attribute__((aligned(4096)));
static size_t static_used;

static __attribute__((format(printf, 1, 2))) void fail(const char *format, ...) {
	va_list args;
	if (++errors > 20)
		return;
	fprintf(stderr, "program %ld, rank %d: ", seed, world);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static __attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...) {
	va_list args;
	fprintf(stderr, "interp: program %ld, rank %d: ", seed, world);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	MPI_Abort(MPI_COMM_WORLD, 3);
	exit(3);
}

/* reading */

static const char *word(char *to) {
	text += strspn(text, " \n");
	size_t n = strcspn(text, " \n");
	if (n == 0 || n >= WORD)
		give_up("a word of %zu bytes", n);
	memcpy(to, text, n);
	to[n] = 0;
	text += n;
	return to;
}

static long number(void) {
	char w[WORD], *end;
	errno = 0;
	long n = strtol(word(w), &end, 10);
	if (*end || errno)
		give_up("'%s' is no number", w);
	return n;
}

static void expect(const char *what) {
	char w[WORD];
	if (strcmp(word(w), what) != 0)
		give_up("'%s' where '%s' should be", w, what);
}

static int *numbers(int n) {
	int *a = malloc((n + 1) * sizeof *a);
	for (int i = 0; i < n; i++)
		a[i] = (int)number();
	return a;
}

static const void *map(const char *dir, const char *name) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		give_up("cannot read %s", path);
	/* Anonymous memory after the file terminates the text, also if its length is a multiple of the page size. */
	char *p = mmap(NULL, st.st_size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED && st.st_size > 0)
		p = mmap(p, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		give_up("cannot map %s", path);
	close(fd);
	return p;
}

/* datatypes */

#define NAME(x) \
	{ #x, x }

static MPI_Datatype basic(const char *name) {
	const struct {
		const char *name;
		MPI_Datatype type;
	} basics[] = {NAME(MPI_BYTE),
		      NAME(MPI_SHORT),
		      NAME(MPI_INT),
		      NAME(MPI_LONG),
		      NAME(MPI_INT64_T),
		      NAME(MPI_FLOAT),
		      NAME(MPI_DOUBLE),
		      NAME(MPI_LONG_DOUBLE),
		      NAME(MPI_SIGNED_CHAR),
		      NAME(MPI_UNSIGNED_CHAR),
		      NAME(MPI_UNSIGNED_SHORT),
		      NAME(MPI_UNSIGNED),
		      NAME(MPI_UNSIGNED_LONG),
		      NAME(MPI_LONG_LONG),
		      NAME(MPI_UNSIGNED_LONG_LONG),
		      NAME(MPI_INT8_T),
		      NAME(MPI_INT16_T),
		      NAME(MPI_INT32_T),
		      NAME(MPI_UINT8_T),
		      NAME(MPI_UINT16_T),
		      NAME(MPI_UINT32_T),
		      NAME(MPI_UINT64_T),
		      NAME(MPI_AINT),
		      NAME(MPI_COUNT),
		      NAME(MPI_OFFSET),
		      NAME(MPI_CHAR),
		      NAME(MPI_WCHAR),
		      NAME(MPI_C_BOOL),
		      NAME(MPI_C_FLOAT_COMPLEX),
		      NAME(MPI_C_DOUBLE_COMPLEX),
		      NAME(MPI_C_LONG_DOUBLE_COMPLEX),
		      NAME(MPI_FLOAT_INT),
		      NAME(MPI_DOUBLE_INT),
		      NAME(MPI_LONG_INT),
		      NAME(MPI_2INT),
		      NAME(MPI_SHORT_INT),
		      NAME(MPI_LONG_DOUBLE_INT)};
	for (size_t i = 0; i < sizeof basics / sizeof *basics; i++)
		if (strcmp(name, basics[i].name) == 0)
			return basics[i].type;
	give_up("no datatype is called %s", name);
}

struct type {
	char constructor[WORD];
	int *args, n, kids;
	char (*kid)[WORD]; /* "#" and the number of a constructed type, or the name of a predefined type */
	MPI_Datatype made; /* the handle, unless the program creates its types anew for each call */
};

static struct type *types;
static int types_number, fresh;

static void type_read(struct type *t) {
	word(t->constructor);
	t->kids = 1;
	const char *c = t->constructor;
	if (strcmp(c, "contiguous") == 0)
		t->args = numbers(t->n = 1);
	else if (strcmp(c, "vector") == 0 || strcmp(c, "hvector") == 0)
		t->args = numbers(t->n = 3);
	else if (strcmp(c, "resized") == 0)
		t->args = numbers(t->n = 2);
	else if (strcmp(c, "dup") == 0)
		t->args = NULL;
	else {
		int n = (int)number();
		t->n = n;
		if (strcmp(c, "indexed") == 0 || strcmp(c, "hindexed") == 0)
			t->args = numbers(2 * n);
		else if (strcmp(c, "indexed_block") == 0 || strcmp(c, "hindexed_block") == 0)
			t->args = numbers(1 + n);
		else if (strcmp(c, "subarray") == 0)
			t->args = numbers(3 * n + 1);
		else if (strcmp(c, "struct") == 0) {
			t->args = numbers(2 * n);
			t->kids = n;
		} else
			give_up("no type constructor is called %s", c);
	}
	t->kid = malloc(t->kids * WORD);
	for (int i = 0; i < t->kids; i++)
		word(t->kid[i]);
}

static MPI_Datatype type_make(const struct type *t);

static MPI_Datatype part(const char *name) { return *name == '#' ? type_make(types + atoi(name + 1)) : basic(name); }

static MPI_Datatype type_make(const struct type *t) {
	MPI_Datatype new = MPI_DATATYPE_NULL, kids[t->kids];
	MPI_Aint disps[t->n + 1];
	const char *c = t->constructor;
	for (int i = 0; i < t->kids; i++)
		kids[i] = part(t->kid[i]);
	int n = t->n;
	if (strcmp(c, "contiguous") == 0)
		MPI_Type_contiguous(t->args[0], kids[0], &new);
	else if (strcmp(c, "vector") == 0)
		MPI_Type_vector(t->args[0], t->args[1], t->args[2], kids[0], &new);
	else if (strcmp(c, "hvector") == 0)
		MPI_Type_create_hvector(t->args[0], t->args[1], t->args[2], kids[0], &new);
	else if (strcmp(c, "resized") == 0)
		MPI_Type_create_resized(kids[0], t->args[0], t->args[1], &new);
	else if (strcmp(c, "dup") == 0)
		MPI_Type_dup(kids[0], &new);
	else if (strcmp(c, "indexed") == 0)
		MPI_Type_indexed(n, t->args, t->args + n, kids[0], &new);
	else if (strcmp(c, "indexed_block") == 0)
		MPI_Type_create_indexed_block(n, t->args[0], t->args + 1, kids[0], &new);
	else if (strcmp(c, "subarray") == 0)
		MPI_Type_create_subarray(n, t->args, t->args + n, t->args + 2 * n,
					 t->args[3 * n] ? MPI_ORDER_FORTRAN : MPI_ORDER_C, kids[0], &new);
	else if (strcmp(c, "hindexed_block") == 0) {
		for (int i = 0; i < n; i++)
			disps[i] = t->args[1 + i];
		MPI_Type_create_hindexed_block(n, t->args[0], disps, kids[0], &new);
	} else {
		for (int i = 0; i < n; i++)
			disps[i] = t->args[n + i];
		if (strcmp(c, "hindexed") == 0)
			MPI_Type_create_hindexed(n, t->args, disps, kids[0], &new);
		else
			MPI_Type_create_struct(n, t->args, disps, kids, &new);
	}
	for (int i = 0; i < t->kids; i++)
		if (*t->kid[i] == '#')
			MPI_Type_free(&kids[i]);
	return new;
}

/* One side of a call: its type, and a flag that is true if the type must be freed after the call. */
struct side {
	MPI_Datatype type;
	int count, free;
	void *address;
};

static struct side side_read(void) {
	char w[WORD];
	struct side s = {MPI_DATATYPE_NULL, (int)number(), 0, NULL};
	word(w);
	if (*w == '#' && fresh) {
		s.type = type_make(types + atoi(w + 1));
		MPI_Type_commit(&s.type);
		s.free = 1;
	} else if (*w == '#') {
		s.type = types[atoi(w + 1)].made;
	} else if (*w != '-') {
		s.type = basic(w);
	}
	return s;
}

/* Replaces the type by one with absolute addresses of the same bytes, for use with MPI_BOTTOM. */
static void side_bottom(struct side *s) {
	MPI_Datatype t;
	MPI_Aint address;
	if (s->count == 0 || s->type == MPI_DATATYPE_NULL)
		return;
	MPI_Get_address(s->address, &address);
	MPI_Type_create_hindexed(1, &s->count, &address, s->type, &t);
	MPI_Type_commit(&t);
	if (s->free)
		MPI_Type_free(&s->type);
	*s = (struct side){t, 1, 1, MPI_BOTTOM};
}

static void side_free(struct side *s) {
	if (s->free)
		MPI_Type_free(&s->type);
}

/* windows */

struct region {
	char memory[WORD];
	int size;
	/* area: the allocation, with guard bytes on both sides; base: first byte of the window memory inside it */
	char *area, *base;
	MPI_Aint address;
};

struct member {
	int unit, skew, regions;
	const unsigned char *init;
	struct region *region;
};

struct window {
	char kind[WORD];
	int held, me, keys;
	char (*info)[WORD];     /* info keys in the form key=value */
	struct member *members; /* indexed by the rank in the window */
	MPI_Comm comm;
	MPI_Win win;
};

static void region_allocate(struct region *r, int skew) {
	size_t bytes = r->size + skew + 2 * GUARD;
	if (strcmp(r->memory, "malloc") == 0) {
		if (posix_memalign((void **)&r->area, 64, bytes) != 0)
			give_up("no memory");
	} else if (strcmp(r->memory, "alloc") == 0)
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &r->area);
	else {
		r->area = static_memory + static_used;
		static_used += (bytes + 63) / 64 * 64;
		if (static_used > STATIC_BYTES)
			give_up("more than %d bytes of static memory", STATIC_BYTES);
	}
	r->base = r->area + GUARD + skew;
	memset(r->area, 0xb7, GUARD + skew);
	memset(r->base + r->size, 0x7b, GUARD);
}

static void region_free(struct region *r, int skew) {
	for (int i = 0; i < GUARD + skew; i++)
		if ((unsigned char)r->area[i] != 0xb7)
			fail("byte %d before a window was overwritten", GUARD + skew - i);
	for (int i = 0; i < GUARD; i++)
		if ((unsigned char)r->base[r->size + i] != 0x7b)
			fail("byte %d behind a window was overwritten", i);
	if (strcmp(r->memory, "malloc") == 0)
		free(r->area);
	else if (strcmp(r->memory, "alloc") == 0)
		MPI_Free_mem(r->area);
}

static void window_read(struct window *w) {
	expect("window");
	word(w->kind);
	w->held = (int)number();
	w->keys = (int)number();
	w->info = malloc((w->keys + 1) * WORD);
	for (int i = 0; i < w->keys; i++)
		word(w->info[i]);
	int *order = numbers(size);
	for (int i = 0; i < size; i++)
		if (order[i] == world)
			w->me = i;
	free(order);
	w->members = calloc(size, sizeof *w->members);
	for (int i = 0; i < size; i++) {
		struct member *m = w->members + i;
		expect("member");
		m->unit = (int)number();
		m->skew = (int)number();
		m->init = data + number();
		m->regions = (int)number();
		m->region = calloc(m->regions + 1, sizeof *m->region);
		for (int k = 0; k < m->regions; k++) {
			word(m->region[k].memory);
			m->region[k].size = (int)number();
		}
	}
}

static void window_make(struct window *w) {
	MPI_Comm_split(MPI_COMM_WORLD, 0, w->me, &w->comm);
	struct member *m = w->members + w->me;
	struct region *r = m->region;
	MPI_Info info = MPI_INFO_NULL;
	if (w->keys > 0)
		MPI_Info_create(&info);
	for (int i = 0; i < w->keys; i++) {
		char *value = strchr(w->info[i], '=');
		*value++ = 0;
		MPI_Info_set(info, w->info[i], value);
	}
	if (strcmp(w->kind, "allocate") == 0)
		MPI_Win_allocate(r->size, m->unit, info, w->comm, &r->base, &w->win);
	else if (strcmp(w->kind, "shared") == 0)
		MPI_Win_allocate_shared(r->size, m->unit, info, w->comm, &r->base, &w->win);
	else {
		for (int i = 0; i < m->regions; i++)
			region_allocate(r + i, m->skew);
		if (strcmp(w->kind, "create") == 0)
			MPI_Win_create(r->base, r->size, m->unit, info, w->comm, &w->win);
		else
			MPI_Win_create_dynamic(info, w->comm, &w->win);
	}
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	const unsigned char *from = m->init;
	for (int i = 0; i < m->regions; from += r[i].size, i++) {
		if (strcmp(w->kind, "dynamic") == 0)
			MPI_Win_attach(w->win, r[i].base, r[i].size);
		memcpy(r[i].base, from, r[i].size);
	}
	if (strcmp(w->kind, "dynamic") == 0)
		for (int i = 0; i < size; i++)
			for (int k = 0; k < w->members[i].regions; k++) {
				struct region *other = w->members[i].region + k;
				if (i == w->me)
					MPI_Get_address(other->base, &other->address);
				MPI_Bcast(&other->address, 1, MPI_AINT, i, w->comm);
			}
	MPI_Barrier(w->comm);
	if (w->held)
		MPI_Win_lock_all(0, w->win);
}

static void window_free(struct window *w) {
	struct member *m = w->members + w->me;
	if (w->held)
		MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	if (strcmp(w->kind, "dynamic") == 0)
		for (int i = 0; i < m->regions; i++)
			MPI_Win_detach(w->win, m->region[i].base);
	MPI_Win_free(&w->win);
	MPI_Comm_free(&w->comm);
	for (int i = 0; i < m->regions; i++)
		if (m->region[i].area)
			region_free(m->region + i, m->skew);
	for (int i = 0; i < size; i++)
		free(w->members[i].region);
	free(w->members);
	free(w->info);
}

/* Returns the address of rank's memory for loads and stores by this process. */
static char *window_address(struct window *w, int rank, int region) {
	MPI_Aint bytes;
	int unit;
	char *base;
	if (rank == w->me)
		return w->members[rank].region[region].base;
	MPI_Win_shared_query(w->win, rank, &bytes, &unit, &base);
	return base;
}

/* communication */

struct buffer {
	unsigned char *bytes;
	long size, pos;
};

struct call {
	int id, target, complete, times;
	struct buffer origin, compare, result; /* the buffer `result` has space for `times` results of this size */
	unsigned char *snapshot;               /* copy of the result, made when the call was locally complete */
	MPI_Request request;
};

enum { CALLS = 4096 };
static struct call calls[CALLS];
static int calls_number;

static void *copy(const void *from, long n) {
	unsigned char *to = aligned_alloc(64, (n + 127) / 64 * 64);
	if (from)
		memcpy(to, from, n);
	else
		memset(to, RESULT_FILL, n);
	return to;
}

static struct buffer buffer_read(int results) {
	long off = number();
	struct buffer b = {NULL, number(), 0};
	b.pos = number();
	if (off >= 0 || (results && b.size > 0))
		b.bytes = copy(off >= 0 ? data + off : NULL, b.size * (results ? results : 1));
	return b;
}

/* Records that the call is locally complete. The call must not read its origin buffer any more, and its result must be
 * present. */
static void call_complete(struct call *c) {
	if (c->complete)
		return;
	c->complete = 1;
	if (c->origin.bytes)
		memset(c->origin.bytes, SCRIBBLE, c->origin.size);
	if (c->compare.bytes)
		memset(c->compare.bytes, SCRIBBLE, c->compare.size);
	if (c->result.bytes)
		c->snapshot = copy(c->result.bytes, c->result.size * c->times);
}

static void complete(int target) {
	for (int i = 0; i < calls_number; i++)
		if (target < 0 || calls[i].target == target)
			call_complete(calls + i);
}

static void call_end(struct call *c) {
	for (long i = 0; c->origin.bytes && i < c->origin.size; i++)
		if (c->origin.bytes[i] != SCRIBBLE) {
			fail("call %d: byte %ld of its origin buffer was changed", c->id, i);
			break;
		}
	for (long i = 0; c->result.bytes && i < c->result.size * c->times; i++)
		if (c->result.bytes[i] != c->snapshot[i]) {
			fail("call %d: byte %ld of its result changed from %#x to %#x after it was complete", c->id, i,
			     c->snapshot[i], c->result.bytes[i]);
			break;
		}
	if (c->result.bytes)
		fwrite(c->snapshot, 1, c->result.size * c->times, out);
	free(c->origin.bytes);
	free(c->compare.bytes);
	free(c->result.bytes);
	free(c->snapshot);
}

/* Completes all requests, by one of the completion functions. */
static void requests(int way) {
	MPI_Request list[CALLS];
	int from[CALLS], done[CALLS], n = 0, index, count, flag = 0;
	for (int i = 0; i < calls_number; i++)
		if (calls[i].request != MPI_REQUEST_NULL) {
			from[n] = i;
			list[n++] = calls[i].request;
		}
	switch (n == 0 ? -1 : way) {
	case 0:
		MPI_Waitall(n, list, MPI_STATUSES_IGNORE);
		break;
	case 1:
		while (!flag)
			MPI_Testall(n, list, &flag, MPI_STATUSES_IGNORE);
		break;
	case 2:
		for (int i = 0; i < n; i++) {
			MPI_Waitany(n, list, &index, MPI_STATUS_IGNORE);
			call_complete(calls + from[index]);
		}
		break;
	case 3:
		for (int left = n; left > 0; left -= count) {
			MPI_Waitsome(n, list, &count, done, MPI_STATUSES_IGNORE);
			for (int i = 0; i < count; i++)
				call_complete(calls + from[done[i]]);
		}
		break;
	case 4:
		for (int i = n - 1; i >= 0; i--) {
			MPI_Wait(&list[i], MPI_STATUS_IGNORE);
			call_complete(calls + from[i]);
		}
		break;
	}
	for (int i = 0; i < n; i++) {
		call_complete(calls + from[i]);
		if (list[i] != MPI_REQUEST_NULL)
			fail("a completed request is not MPI_REQUEST_NULL");
		calls[from[i]].request = MPI_REQUEST_NULL;
	}
}

static MPI_Op operation(const char *name) {
	const struct {
		const char *name;
		MPI_Op op;
	} ops[] = {NAME(MPI_SUM),    NAME(MPI_PROD),   NAME(MPI_MIN),     NAME(MPI_MAX),  NAME(MPI_BAND),
		   NAME(MPI_BOR),    NAME(MPI_BXOR),   NAME(MPI_LAND),    NAME(MPI_LOR),  NAME(MPI_LXOR),
		   NAME(MPI_MINLOC), NAME(MPI_MAXLOC), NAME(MPI_REPLACE), NAME(MPI_NO_OP)};
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strcmp(name, ops[i].name) == 0)
			return ops[i].op;
	return MPI_OP_NULL;
}

enum { FORM_REQUEST = 1, FORM_COUNT = 2, FORM_BOTTOM = 4 };

/* CALL(MPI_Put, arguments): uses one of the four forms of the function. */
#define CALL(name, rname, ...)                                                                                   \
	(form & FORM_COUNT ? (form & FORM_REQUEST ? rname##_c(__VA_ARGS__, &c->request) : name##_c(__VA_ARGS__)) \
			   : (form & FORM_REQUEST ? rname(__VA_ARGS__, &c->request) : name(__VA_ARGS__)))

enum verb { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, INCREMENT };

static enum verb verb_number(const char *verb) {
	static const char *const names[] = {
		"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "increment"};
	for (int i = 0; i <= INCREMENT; i++)
		if (strcmp(verb, names[i]) == 0)
			return (enum verb)i;
	give_up("no action is called %s", verb);
}

/* Adds `by` to a number at the target. This rank holds an exclusive lock on the target, so that no other rank changes
 * the number between the get and the put. */
static void increment(struct window *w, int target, MPI_Aint disp, const unsigned char *by) {
	uint64_t value = 0, add;
	memcpy(&add, by, sizeof add);
	MPI_Get(&value, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, w->win);
	MPI_Win_flush(target, w->win);
	value += add;
	MPI_Put(&value, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, w->win);
	MPI_Win_flush(target, w->win);
}

static void communicate(struct window *w, const char *verb) {
	char op_name[WORD];
	if (calls_number == CALLS)
		give_up("too many calls in a phase");
	struct call *c = calls + calls_number++;
	c->request = MPI_REQUEST_NULL;
	c->complete = 0;
	c->snapshot = NULL;
	c->id = (int)number();
	int form = (int)number();
	c->times = (int)number();
	MPI_Op op = operation(word(op_name));
	int target = (int)number(), region = (int)number();
	MPI_Aint disp = number();
	c->target = target;
	c->origin = buffer_read(0);
	struct side o = side_read();
	c->compare = buffer_read(0);
	c->result = buffer_read(c->times);
	struct side r = side_read(), t = side_read();
	if (strcmp(verb, "store") == 0) {
		memcpy(window_address(w, target, region) + disp * w->members[target].unit, c->origin.bytes,
		       c->origin.size);
		call_complete(c);
		return;
	}
	if (strcmp(verb, "load") == 0) {
		memcpy(c->result.bytes, window_address(w, target, region) + disp * w->members[target].unit,
		       c->result.size);
		call_complete(c);
		return;
	}
	o.address = c->origin.bytes ? c->origin.bytes + c->origin.pos : NULL;
	r.address = c->result.bytes ? c->result.bytes + c->result.pos : NULL;
	if (form & FORM_BOTTOM) {
		side_bottom(&o);
		side_bottom(&r);
	}
	if (strcmp(w->kind, "dynamic") == 0 && target >= 0)
		disp += w->members[target].region[region].address;
	if (target < 0)
		target = MPI_PROC_NULL;
	enum verb what = verb_number(verb);
	for (int i = 0; i < c->times; i++, r.address = (char *)r.address + c->result.size)
		switch (what) {
		case PUT:
			CALL(MPI_Put, MPI_Rput, o.address, o.count, o.type, target, disp, t.count, t.type, w->win);
			break;
		case GET:
			CALL(MPI_Get, MPI_Rget, r.address, r.count, r.type, target, disp, t.count, t.type, w->win);
			break;
		case ACCUMULATE:
			CALL(MPI_Accumulate, MPI_Raccumulate, o.address, o.count, o.type, target, disp, t.count, t.type,
			     op, w->win);
			break;
		case GET_ACCUMULATE:
			CALL(MPI_Get_accumulate, MPI_Rget_accumulate, o.address, o.count, o.type, r.address, r.count,
			     r.type, target, disp, t.count, t.type, op, w->win);
			break;
		case FETCH_AND_OP:
			MPI_Fetch_and_op(o.address, r.address, t.type, target, disp, op, w->win);
			break;
		case COMPARE_AND_SWAP:
			MPI_Compare_and_swap(o.address, c->compare.bytes, r.address, t.type, target, disp, w->win);
			break;
		case INCREMENT:
			increment(w, target, disp, c->origin.bytes);
		}
	side_free(&o);
	side_free(&r);
	side_free(&t);
}

static int assertions(void) {
	int ours = (int)number();
	const int mode[] = {MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED};
	int assert = 0;
	for (int i = 0; i < 5; i++)
		if (ours >> i & 1)
			assert |= mode[i];
	return assert;
}

static MPI_Group members(struct window *w) {
	MPI_Group all, some;
	int n = (int)number(), *ranks = numbers(n);
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, n, ranks, &some);
	MPI_Group_free(&all);
	free(ranks);
	return some;
}

/* Performs `verb` and returns 1 if it is a synchronization. Returns 0 for any other verb. */
static int synchronize(struct window *w, const char *verb) {
	MPI_Win win = w->win;
	int rank, assert, flag = 0;
	if (strcmp(verb, "fence") == 0) {
		MPI_Win_fence(assertions(), win);
		complete(-1);
	} else if (strcmp(verb, "post") == 0 || strcmp(verb, "start") == 0) {
		assert = assertions();
		MPI_Group group = members(w);
		if (*verb == 'p')
			MPI_Win_post(group, assert, win);
		else
			MPI_Win_start(group, assert, win);
		MPI_Group_free(&group);
	} else if (strcmp(verb, "complete") == 0) {
		MPI_Win_complete(win);
		complete(-1);
	} else if (strcmp(verb, "wait") == 0)
		MPI_Win_wait(win);
	else if (strcmp(verb, "test") == 0)
		while (!flag)
			MPI_Win_test(win, &flag);
	else if (strcmp(verb, "lock") == 0) {
		int exclusive = (int)number();
		rank = (int)number();
		MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank, assertions(), win);
	} else if (strcmp(verb, "lock_all") == 0)
		MPI_Win_lock_all(assertions(), win);
	else if (strcmp(verb, "unlock") == 0) {
		MPI_Win_unlock(rank = (int)number(), win);
		complete(rank);
	} else if (strcmp(verb, "unlock_all") == 0) {
		MPI_Win_unlock_all(win);
		complete(-1);
	} else if (strcmp(verb, "flush") == 0) {
		MPI_Win_flush(rank = (int)number(), win);
		complete(rank);
	} else if (strcmp(verb, "flush_local") == 0) {
		MPI_Win_flush_local(rank = (int)number(), win);
		complete(rank);
	} else if (strcmp(verb, "flush_all") == 0) {
		MPI_Win_flush_all(win);
		complete(-1);
	} else if (strcmp(verb, "flush_local_all") == 0) {
		MPI_Win_flush_local_all(win);
		complete(-1);
	} else if (strcmp(verb, "own") == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->me, 0, win);
		MPI_Win_unlock(w->me, win);
	} else if (strcmp(verb, "sync") == 0)
		MPI_Win_sync(win);
	else if (strcmp(verb, "barrier") == 0)
		MPI_Barrier(w->comm);
	else if (strcmp(verb, "requests") == 0)
		requests((int)number());
	else
		return 0;
	return 1;
}

static void phase_end(struct window *w) {
	requests(0);
	complete(-1);
	struct member *m = w->members + w->me;
	for (int i = 0; i < m->regions; i++)
		fwrite(m->region[i].base, 1, m->region[i].size, out);
	for (int i = 0; i < calls_number; i++)
		call_end(calls + i);
	calls_number = 0;
}

static void program(void) {
	char w[WORD];
	seed = number();
	fresh = (int)number();
	int windows_number = (int)number();
	struct window windows[windows_number];
	for (int i = 0; i < windows_number; i++)
		window_read(windows + i);
	expect("types");
	types_number = (int)number();
	types = calloc(types_number + 1, sizeof *types);
	for (int i = 0; i < types_number; i++)
		type_read(types + i);
	for (int i = 0; i < types_number && !fresh; i++) {
		types[i].made = type_make(types + i);
		MPI_Type_commit(&types[i].made);
	}
	static_used = 0;
	for (int i = 0; i < windows_number; i++)
		window_make(windows + i);
	for (int rank = 0; rank < size; rank++) {
		expect("rank");
		if (number() != world) {
			text = strstr(text, "\nendrank") + strlen("\nendrank");
			continue;
		}
		while (strcmp(word(w), "endrank") != 0) {
			struct window *on = windows + number();
			while (strcmp(word(w), "endphase") != 0)
				if (!synchronize(on, w))
					communicate(on, w);
			phase_end(on);
		}
	}
	for (int i = windows_number - 1; i >= 0; i--)
		window_free(windows + i);
	for (int i = 0; i < types_number; i++) {
		if (!fresh)
			MPI_Type_free(&types[i].made);
		free(types[i].args);
		free(types[i].kid);
	}
	free(types);
	fwrite(&seed, 1, sizeof seed, out);
	fflush(out);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 2)
		give_up("usage: interp DIR");
	text = map(argv[1], "program.txt");
	data = map(argv[1], "program.bin");
	char path[4096], w[WORD];
	snprintf(path, sizeof path, "%s/out.%d", argv[1], world);
	out = fopen(path, "w");
	if (!out)
		give_up("cannot write %s", path);
	while (strcmp(word(w), "program") == 0)
		program();
	fclose(out);
	MPI_Finalize();
	return errors != 0;
}
