/* Proves: a cursor over a random flattened type (datatype/datatype.h; capi/datatype/program.h defines the format)
 * visits the bytes of the type in the right order, for any step sizes and from any position. Packing, unpacking, copies
 * between two types, and the layout of a message (transport/layout.h) use the same bytes. Bounds and overlap checks
 * agree with these bytes. The test computes the expected bytes while it generates the type.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "transport/layout.h"

enum { TYPES = 3000, WORDS = 512, BYTES = 1500, COPIES = 3, REACH = 1 << 16 };
enum { BLOCK = 1, LOOP, LIST, BLOCKS, SEQ };

static uint64_t state = 11;
static int64_t random_between(int64_t min, int64_t max) {
	return min + (int64_t)(check_random(&state) % (uint64_t)(max - min + 1));
}

/* A node of the type's tree: the index of its first word in the program, and the offsets at[0..n) of its bytes in
 * order, relative to the node's base. */
struct node {
	int64_t word, n, at[BYTES];
};

struct random_type {
	int64_t program[WORDS], used;
	/* offsets at[0..bytes) of the bytes of count copies, relative to the buffer's address */
	int64_t count, bytes, at[BYTES * COPIES];
};

/* Appends the bytes of a child node, displaced by `by` bytes. */
static void append(struct node *to, const struct node *child, int64_t by) {
	for (int64_t i = 0; i < child->n; i++)
		to->at[to->n++] = child->at[i] + by;
}

static int64_t put(struct random_type *t, int64_t word) {
	t->program[t->used] = word;
	return t->used++;
}

/* Generates a random node of at most max_bytes bytes, with children up to `depth` levels deep. */
static void make(struct random_type *t, struct node *out, int depth, int64_t max_bytes) {
	struct node *child = malloc(sizeof *child * 4);
	int64_t n = random_between(2, 4),
		kind = depth == 0 || max_bytes < 8 || t->used > WORDS / 2 ? BLOCK : random_between(BLOCK, SEQ), disp[4];
	out->n = 0;
	for (int i = 0; i < 4; i++)
		disp[i] = i == 0 ? 0 : random_between(-300, 300);
	switch (kind) {
	case BLOCK:
		for (int64_t size = random_between(1, max_bytes < 9 ? max_bytes : 9); out->n < size; out->n++)
			out->at[out->n] = out->n;
		out->word = put(t, BLOCK);
		put(t, out->n);
		break;
	case LOOP: {
		int64_t stride = random_between(-40, 60);
		make(t, child, depth - 1, max_bytes / n);
		out->word = put(t, LOOP);
		put(t, n * child->n);
		put(t, n);
		put(t, stride);
		put(t, child->word);
		for (int64_t i = 0; i < n; i++)
			append(out, child, i * stride);
		break;
	}
	case LIST:
		make(t, child, depth - 1, max_bytes / n);
		out->word = put(t, LIST);
		put(t, n * child->n);
		put(t, n);
		put(t, child->word);
		for (int64_t i = 0; i < n; i++) {
			put(t, disp[i]);
			append(out, child, disp[i]);
		}
		break;
	default: /* BLOCKS, SEQ */
		for (int64_t i = 0; i < n; i++) {
			child[i].n = random_between(1, max_bytes / n < 9 ? max_bytes / n : 9);
			for (int64_t k = 0; k < child[i].n; k++)
				child[i].at[k] = k;
			if (kind == SEQ)
				make(t, &child[i], depth - 1, max_bytes / n);
		}
		out->word = put(t, kind);
		int64_t size = put(t, 0), packed = 0;
		put(t, n);
		for (int64_t i = 0; i < n; i++) {
			put(t, disp[i]);
			append(out, &child[i], disp[i]);
		}
		for (int64_t i = 0; i <= n; i++) {
			put(t, packed);
			packed += i < n ? child[i].n : 0;
		}
		for (int64_t i = 0; kind == SEQ && i < n; i++)
			put(t, child[i].word);
		t->program[size] = packed;
	}
	free(child);
}

static bool has_overlap(const struct random_type *t, int64_t bytes) {
	static uint8_t seen[REACH];
	bool again = false;
	memset(seen, 0, sizeof seen);
	for (int64_t i = 0; i < bytes; i++)
		again |= seen[REACH / 2 + t->at[i]]++ != 0;
	return again;
}

static const struct gompi_type *random_type(struct random_type *t) {
	static struct node root;
	t->used = GOMPI_TYPE_HEAD;
	make(t, &root, (int)random_between(0, 4), BYTES);
	int64_t origin = random_between(-50, 50), lo = 0, hi = 0, n = 0;
	for (int64_t i = 0; i < root.n; i++) {
		lo = i == 0 || root.at[i] < lo ? root.at[i] : lo;
		hi = i == 0 || root.at[i] >= hi ? root.at[i] + 1 : hi;
	}
	t->count = random_between(1, COPIES);
	int64_t extent = random_between(0, 2) == 0 ? random_between(-100, 100) : hi - lo + random_between(0, 5);
	for (int64_t c = 0; c < t->count; c++)
		for (int64_t i = 0; i < root.n; i++)
			t->at[n++] = c * extent + origin + root.at[i];
	t->bytes = n;
	*(struct gompi_type *)t->program = (struct gompi_type){.magic = 1,
							       .words = t->used,
							       .flags = has_overlap(t, root.n) ? GOMPI_TYPE_OVERLAP : 0,
							       .elem = (int64_t)(uintptr_t)MPI_BYTE,
							       .elem_size = 1,
							       .elements = root.n,
							       .size = root.n,
							       .extent = extent,
							       .true_lb = origin + lo,
							       .true_ub = origin + hi,
							       .depth = 5,
							       .segments = root.n,
							       .origin = origin,
							       .root = root.word,
							       .elem_origin = origin,
							       .elem_root = root.word};
	struct gompi_type *type = (struct gompi_type *)t->program;
	const int64_t *node = t->program + root.word;
	bool loop = node[0] == LOOP && t->program[node[4]] == BLOCK;
	if (node[0] == BLOCK || loop) { /* a block, or equidistant blocks: fast copies need only the type's header */
		type->flags |= GOMPI_TYPE_STRIDED;
		type->block = loop ? t->program[node[4] + 1] : node[1];
		type->repeat = loop ? node[2] : 1;
		type->stride = loop ? node[3] : 0;
		if (!loop && extent == root.n)
			type->flags |= GOMPI_TYPE_CONTIGUOUS | GOMPI_TYPE_ELEM_CONTIGUOUS;
	}
	return type;
}

static char memory[REACH], other[REACH], *const middle = memory + REACH / 2;

/* Checks the cursor from a position on, in random steps. A step covers several blocks or a part of one block. */
static void walk(const struct random_type *t, const struct gompi_type *type, int64_t position) {
	struct gompi_cursor c;
	int64_t i = position, offset, n;
	gompi_cursor_init(&c, type, t->count, random_between(0, 1) ? GOMPI_BYTES : GOMPI_ELEMENTS);
	if (position != 0)
		gompi_cursor_seek(&c, position);
	for (;;) {
		int64_t limit = random_between(1, 40);
		struct gompi_run r = random_between(0, 1) ? gompi_cursor_run(&c, limit) : (struct gompi_run){.n = 0};
		if (r.n != 0) {
			CHECK(r.n * r.block <= limit, "%d bytes, not %d", (int)(r.n * r.block), (int)limit);
			for (int64_t k = 0; k < r.n * r.block; k++, i++)
				CHECK(i < t->bytes && t->at[i] == r.offset + k / r.block * r.stride + k % r.block,
				      "byte %d of %d", (int)i, (int)t->bytes);
			continue;
		}
		if ((n = gompi_cursor_next(&c, limit, &offset)) == 0)
			break;
		for (int64_t k = 0; k < n; k++, i++)
			CHECK(i < t->bytes && t->at[i] == offset + k, "byte %d of %d", (int)i, (int)t->bytes);
	}
	CHECK(i == t->bytes, "%d bytes from %d on, not %d", (int)(i - position), (int)position, (int)t->bytes);
}

static void fill(char *m, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		m[i] = (char)check_random(&state);
}

static void check_pack(const struct random_type *t, const struct gompi_type *type) {
	static char packed[BYTES * COPIES], want[REACH];
	int64_t from = random_between(0, t->bytes), limit = random_between(0, t->bytes);
	int64_t n = limit < t->bytes - from ? limit : t->bytes - from;
	fill(memory, REACH);
	CHECK(gompi_typed_pack(packed, limit, middle, t->count, type, from) == n, "bytes packed");
	for (int64_t i = 0; i < n; i++)
		CHECK(packed[i] == middle[t->at[from + i]], "packed byte %d", (int)i);
	memcpy(want, memory, REACH);
	fill(packed, n);
	for (int64_t i = 0; i < n; i++)
		want[REACH / 2 + t->at[from + i]] = packed[i];
	CHECK(gompi_typed_unpack(middle, t->count, type, from, packed, limit) == n, "bytes unpacked");
	CHECK(memcmp(memory, want, REACH) == 0, "unpacked otherwise, or beside");
}

static void check_copy(const struct random_type *t, const struct gompi_type *type, const struct random_type *s,
		       const struct gompi_type *source) {
	static char want[REACH];
	int64_t n = t->bytes < s->bytes ? t->bytes : s->bytes;
	fill(memory, REACH);
	fill(other, REACH);
	memcpy(want, memory, REACH);
	for (int64_t i = 0; i < n; i++)
		want[REACH / 2 + t->at[i]] = other[REACH / 2 + s->at[i]];
	CHECK(gompi_typed_copy(middle, t->count, type, other + REACH / 2, s->count, source) == n, "bytes copied");
	CHECK(memcmp(memory, want, REACH) == 0, "copied otherwise, or beside");
}

/* Encodes the type's bytes as a sequence of message layouts, each with as many bytes as fit, and checks each layout. */
static void check_layouts(const struct random_type *t, const struct gompi_type *type) {
	struct gompi_cursor c;
	int64_t i = 0;
	gompi_cursor_init(&c, type, t->count, GOMPI_BYTES);
	while (i < t->bytes) {
		int64_t words[64], bytes, lo, hi, low = INT64_MAX, high = INT64_MIN;
		struct gompi_layout_limits limits = {.words_bytes = random_between(48, sizeof words),
						     .max_data_bytes = random_between(1, 300),
						     .unit = 1,
						     .is_shared = random_between(0, 1) != 0};
		struct gompi_layout l;
		int64_t n = gompi_layout_encode(words, &c, &limits, &bytes);
		CHECK(n > 0 && bytes > 0 && bytes <= limits.max_data_bytes, "%d words, %d bytes", (int)n, (int)bytes);
		CHECK(n * 8 + (limits.is_shared ? bytes : 0) <= limits.words_bytes, "%d words, %d bytes in %d", (int)n,
		      (int)bytes, (int)limits.words_bytes);
		CHECK(gompi_layout_init(&l, words, n, 1, bytes, &lo, &hi), "a valid layout is refused");
		CHECK(!gompi_layout_init(&l, words, n, 1, bytes + 1, &lo, &hi), "bytes that are not there");
		gompi_layout_init(&l, words, n, 1, bytes, &lo, &hi);
		for (struct gompi_run r; bytes > 0; bytes -= r.n * r.block) {
			r = gompi_layout_next(&l, random_between(1, bytes));
			CHECK(r.n > 0, "nothing left of %d bytes", (int)bytes);
			if (r.n == 0)
				return;
			for (int64_t k = 0; k < r.n * r.block; k++, i++) {
				int64_t at = r.offset + k / r.block * r.stride + k % r.block;
				CHECK(i < t->bytes && t->at[i] == at, "byte %d of %d", (int)i, (int)t->bytes);
				low = at < low ? at : low;
				high = at >= high ? at + 1 : high;
			}
		}
		CHECK(lo == low && hi == high, "bytes %d to %d, not %d to %d", (int)lo, (int)hi, (int)low, (int)high);
	}
}

int main(void) {
	static struct random_type t, s;
	unit_types();
	for (int i = 0; i < TYPES; i++) {
		const struct gompi_type *type = random_type(&t), *source = random_type(&s);
		int64_t lo, hi, low = INT64_MAX, high = INT64_MIN;
		for (int64_t k = 0; k < t.bytes; k++) {
			low = t.at[k] < low ? t.at[k] : low;
			high = t.at[k] >= high ? t.at[k] + 1 : high;
		}
		CHECK(gompi_type_bounds(type, t.count, &lo, &hi) && lo == low && hi == high, "bounds");
		CHECK(gompi_type_overlaps(type, t.count) || !has_overlap(&t, t.bytes), "an overlap is not told");
		walk(&t, type, 0);
		walk(&t, type, random_between(0, t.bytes));
		check_pack(&t, type);
		check_copy(&t, type, &s, source);
		check_layouts(&t, type);
	}
	return unit_end();
}
