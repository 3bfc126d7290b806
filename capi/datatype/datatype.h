// Datatypes on the data path: lookup of the flattened form (the program) by handle, and iteration over the bytes that
// it describes. program.h explains the form, and construct.c constructs it.
//
// A program is a flat array of int64_t words. A `const struct gompi_type *` points to its first word, and node
// references are word indices from there. All sizes, offsets and extents are in bytes. The iteration functions never
// fail, block or call Go; callers check bounds first (gompi_type_bounds).
#ifndef GOMPI_DATATYPE_H
#define GOMPI_DATATYPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/table.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_TYPE_HEAD = 20, GOMPI_TYPE_MAX_DEPTH = 128 };

// The head of a program.
struct gompi_type {
	int64_t magic;       // GOMPI_TYPE_MAGIC; 0 if there is no type or it is not committed
	int64_t words;       // number of words of the whole program
	int64_t flags;       // GOMPI_TYPE_ flags
	int64_t elem;        // handle of the predefined type of all elements; 0 if their types differ
	int64_t elem_size;   // distance between the elements of an array; 0 if elem is 0
	int64_t elements;    // number of elements of predefined types
	int64_t size;        // bytes of data
	int64_t lb;          // lower bound
	int64_t extent;      // distance between copies
	int64_t true_lb;     // lowest byte touched
	int64_t true_ub;     // one past the highest byte touched
	int64_t depth;       // number of levels of nodes
	int64_t segments;    // number of contiguous segments of one copy
	int64_t origin;      // displacement of the first byte in typemap order
	int64_t root;        // word index of the node that describes all bytes
	int64_t elem_origin; // displacement of the first element
	int64_t elem_root;   // word index of the node that describes all elements, with the gaps inside them
	int64_t block;       // GOMPI_TYPE_STRIDED: the bytes are `repeat` blocks of `block` bytes, `stride` apart
	int64_t repeat;
	int64_t stride;
};
_Static_assert(sizeof(struct gompi_type) == GOMPI_TYPE_HEAD * sizeof(int64_t), "the head of a program");

enum {
	GOMPI_TYPE_CONTIGUOUS = 1, // n copies are n * size contiguous bytes, which begin at origin
	GOMPI_TYPE_ELEM_CONTIGUOUS =
		2, // n copies are n * elements elements of elem_size bytes each, which begin at elem_origin
	GOMPI_TYPE_STRIDED = 4,
	GOMPI_TYPE_OVERLAP = 8, // one copy may touch a byte twice; without this flag it does not
};

// Storage of types. A predefined type is in gompi_type_slots, at the index of its handle. All other types are in the
// table gompi_types.
enum { GOMPI_TYPE_FIRST = 0x200, GOMPI_TYPE_PREDEFINED = 0x100, GOMPI_TYPE_SLOT_WORDS = 32 };
#define GOMPI_TYPE_MAGIC INT64_C(0x31455059544950) // "PITYPE1"

extern _Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
extern struct gompi_handles gompi_types;

// Returns the type with this handle, committed or not, or NULL.
static inline const struct gompi_type *gompi_type_get_any(MPI_Datatype datatype) {
	uintptr_t h = (uintptr_t)datatype;
	if (__builtin_expect(h - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED, 1)) {
		const struct gompi_type *t = (const struct gompi_type *)gompi_type_slots[h - GOMPI_TYPE_FIRST];
		return t->magic ? t : NULL;
	}
	return gompi_table_get(&gompi_types.table, h);
}

// Returns the committed type with this handle, or NULL. The pointer stays valid until the type is freed. Callers that
// need it longer acquire a reference (gompi_type_retain).
static inline const struct gompi_type *gompi_type_get(MPI_Datatype datatype) {
	const struct gompi_type *t = gompi_type_get_any(datatype);
	return t != NULL && t->magic ? t : NULL;
}

// Returns true if all elements have the same predefined type, and this type has gaps.
static inline bool gompi_type_has_gaps(const struct gompi_type *t) { return t->elem != 0 && t->elem_root != t->root; }

// Computes the bytes of data of count copies. Returns false if count is negative or the product overflows.
static inline bool gompi_type_bytes(const struct gompi_type *t, int64_t count, int64_t *bytes) {
	return count >= 0 && !__builtin_mul_overflow(count, t->size, bytes);
}

// Computes the lowest byte and one past the highest byte that count copies touch, relative to the buffer's address.
// Stores 0 in both if the copies touch no byte. Returns false if count is negative or a bound overflows.
static inline bool gompi_type_bounds(const struct gompi_type *t, int64_t count, int64_t *lo, int64_t *hi) {
	int64_t last;
	*lo = *hi = 0;
	if (count <= 0 || !t->size)
		return count >= 0;
	if (__builtin_mul_overflow(count - 1, t->extent, &last))
		return false;
	return !__builtin_add_overflow(t->true_lb, last < 0 ? last : 0, lo) &&
	       !__builtin_add_overflow(t->true_ub, last > 0 ? last : 0, hi);
}

// Returns true if count copies may touch a byte twice, so that the order in which their entries are written matters.
// Returns false only if no byte is touched twice.
bool gompi_type_overlaps(const struct gompi_type *t, int64_t count);

// Returns true if data that begins `lo` bytes after the address `buf` is at an invalid address. An address in the first
// page is invalid, because that page is never mapped. Such an address results if `buf` is NULL or another MPI constant,
// or MPI_BOTTOM with displacements that are not addresses.
static inline bool gompi_invalid_address(const void *buf, int64_t lo) { return (uintptr_t)buf + (uintptr_t)lo < 4096; }

// A run: n blocks of `block` bytes each, which begin `stride` bytes apart. The first block begins `offset` bytes after
// the buffer's address.
struct gompi_run {
	int64_t offset, block, n, stride;
};

// The bytes over which a cursor iterates.
enum gompi_cursor_view {
	GOMPI_BYTES,    // the bytes of data
	GOMPI_ELEMENTS, // the elements, with the gaps inside pair types
};

// A position in the bytes that a number of copies of a type touch, in typemap order (the order of packing).
struct gompi_cursor {
	const int64_t *prog;
	int64_t origin, root;
	int64_t copy_bytes; // packed bytes of one copy
	int64_t copy_count; // number of copies
	int64_t extent;
	int64_t copy_index;   // number of the copy in which the cursor is
	struct gompi_run run; // current blocks; n is 0 at the end
	int64_t skip_bytes;   // bytes already consumed of the run's first block
	int depth;            // frames in use
	struct gompi_cursor_frame {
		int64_t node, i, base;
	} stack[GOMPI_TYPE_MAX_DEPTH];
};

// Positions c at the first byte of count copies. Precondition: gompi_type_bytes and gompi_type_bounds returned true for
// t and count.
void gompi_cursor_init(struct gompi_cursor *c, const struct gompi_type *t, int64_t count, enum gompi_cursor_view view);

// Positions c after the first `pos` bytes of the packed data. Takes O(depth + log n) time, where n is the length of a
// list of blocks.
void gompi_cursor_seek(struct gompi_cursor *c, int64_t pos);

// Loads the next run into c->run. At the end, sets c->run.n to 0.
void gompi_cursor_advance(struct gompi_cursor *c);
static inline void gompi_cursor_skip_blocks(struct gompi_cursor *c, int64_t n) {
	c->run.n -= n;
	c->run.offset += n * c->run.stride;
	c->skip_bytes = 0;
	if (!c->run.n)
		gompi_cursor_advance(c);
}

// Consumes up to `limit` > 0 contiguous bytes. Returns the number of bytes and stores the offset of the first byte.
// Returns 0 at the end.
static inline int64_t gompi_cursor_next(struct gompi_cursor *c, int64_t limit, int64_t *offset) {
	if (!c->run.n)
		return 0;
	*offset = c->run.offset + c->skip_bytes;
	int64_t n = c->run.block - c->skip_bytes;
	if (limit < n)
		n = limit;
	c->skip_bytes += n;
	if (c->skip_bytes == c->run.block)
		gompi_cursor_skip_blocks(c, 1);
	return n;
}

// Consumes and returns as many whole blocks of the current run as fit into `limit` bytes. Returns a run with n = 0 at
// the end of the data. Also returns such a run if not even one block fits; gompi_cursor_next can then consume a part of
// the block.
static inline struct gompi_run gompi_cursor_run(struct gompi_cursor *c, int64_t limit) {
	struct gompi_run r = c->run;
	if (!r.n)
		return r;
	if (c->skip_bytes)
		r = (struct gompi_run){r.offset + c->skip_bytes, r.block - c->skip_bytes, 1, 0};
	if (r.n > 1 || r.block > limit) {
		int64_t fit = limit / r.block;
		if (fit < r.n)
			r.n = fit;
	}
	if (r.n)
		gompi_cursor_skip_blocks(c, r.n);
	return r;
}

// gompi_cursor_pack copies the next bytes of a cursor over src to dst. gompi_cursor_unpack copies bytes from src to the
// positions of a cursor over dst. Both copy `limit` bytes, or all remaining bytes if there are fewer, and return the
// number of bytes copied.
int64_t gompi_cursor_pack(char *dst, const char *src, struct gompi_cursor *c, int64_t limit);
int64_t gompi_cursor_unpack(char *dst, struct gompi_cursor *c, const char *src, int64_t limit);

// Makes a type of n elements of a predefined type. Stores the type in `words`, an array of the caller with
// GOMPI_ELEMENTS_WORDS(n) 8-byte words. Returns the array to which the caller must write the displacements of the
// elements. Only cursors with the view GOMPI_ELEMENTS can use the type. flags is GOMPI_TYPE_OVERLAP or 0.
#define GOMPI_ELEMENTS_WORDS(n) (GOMPI_TYPE_HEAD + 8 + (n))
int64_t *gompi_type_of_elements(int64_t *words, const struct gompi_type *element, int64_t n, int64_t flags);

// Returns a copy of t in which every byte is an element, MPI_BYTE. The caller frees it. Returns NULL if out of memory.
struct gompi_type *gompi_type_as_bytes(const struct gompi_type *t);

// Copies n blocks of `block` bytes each. The blocks begin sstride bytes apart in s and dstride bytes apart in d. Source
// and destination do not overlap.
void gompi_copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride, int64_t block,
		       int64_t n);

// Copies scount copies of st at src to dcount copies of dt at dst, in typemap order on both sides, until one side is
// exhausted. Returns the number of bytes copied. Source and destination do not overlap.
int64_t gompi_typed_copy(void *dst, int64_t dcount, const struct gompi_type *dt, const void *src, int64_t scount,
			 const struct gompi_type *st);

// gompi_typed_pack copies a part of the packed form of count copies of t at `buf` to `out`: up to `limit` bytes from
// `position`. gompi_typed_unpack copies in the opposite direction. Both return the number of bytes copied.
int64_t gompi_typed_pack(void *out, int64_t limit, const void *buf, int64_t count, const struct gompi_type *t,
			 int64_t position);
int64_t gompi_typed_unpack(void *buf, int64_t count, const struct gompi_type *t, int64_t position, const void *in,
			   int64_t limit);

// Properties of a type, committed or not, for the inquiry functions (type_props.h) and for constructing other types
// from it.
struct gompi_type_props {
	int64_t size, lb, extent, true_lb, true_extent; // in bytes
	int64_t basic_count;                            // basic elements of one copy; a pair type counts as two
	// bytes of each basic element; 0 if their sizes differ or the type has no elements
	int64_t basic_bytes;
	int64_t external_bytes; // bytes in external32
	// results of MPI_Type_get_envelope_c
	int64_t integers, addresses, counts, types;
	int combiner;
	int align; // largest alignment of an element; 1 if there are no elements
	// if external32 differs from the native form of the data only in byte order: size of the units whose bytes are
	// reversed; else 0
	int swap_unit_bytes;
	bool is_large;   // constructed with large counts, so that only MPI_Type_get_envelope_c can describe it
	bool is_resized; // lb and extent were set explicitly
};

// Precedes the program of a type that is not predefined.
struct gompi_type_meta {
	_Alignas(16) gompi_a64 ref_count; // the handle counts as one reference
	uintptr_t handle;
	const struct gompi_recipe *recipe;     // the constructor's arguments
	int64_t words;                         // number of words of the program
	size_t alloc_bytes;                    // bytes of this struct, its program and all data after the program
	bool holds_types;                      // the type holds references to the types that it was made from
	const struct gompi_type *next_to_free; // next in a list of types to free
	struct gompi_type_props props;
};

// Copies a program to the slot of the predefined type with this handle. The program has `words` 8-byte words. Returns
// false if the program is longer than a slot.
bool gompi_type_install(uintptr_t handle, struct gompi_type_props props, const int64_t *program, int64_t words);

// Returns a type without a handle. It has space for a program of `words` 8-byte words, whose head is zeroed, and for
// extra_bytes more bytes. Returns NULL if out of memory.
struct gompi_type *gompi_type_new(int64_t words, size_t extra_bytes);
// Assigns a handle to a new type and returns it. Returns 0, and frees the type, if out of memory or handles. The type
// is committed if its magic is GOMPI_TYPE_MAGIC.
uintptr_t gompi_type_add_handle(struct gompi_type *t);
// Makes a type without a recipe from a program, for tests. Returns the handle, or 0 if out of memory or handles.
uintptr_t gompi_type_add_program(struct gompi_type_props props, const int64_t *program, int64_t words);
// Commits the type with this handle. Returns false if no type has this handle.
bool gompi_type_commit_handle(uintptr_t handle);

// Removes the handle of a type, so that no look-up finds it. Returns false if no type has this handle. The memory
// remains while references exist and for some time afterwards, so that an erroneous concurrent use in another thread
// reads an old type and not garbage.
bool gompi_type_remove(uintptr_t handle);

static inline struct gompi_type_meta *gompi_type_meta(const struct gompi_type *t) {
	return (struct gompi_type_meta *)(uintptr_t)t - 1;
}

// Returns true if a type from gompi_type_get can be freed; predefined types cannot.
static inline bool gompi_type_is_freeable(const struct gompi_type *t) {
	return (uintptr_t)t - (uintptr_t)gompi_type_slots >= sizeof gompi_type_slots;
}

// Acquires a reference to a type from gompi_type_get; gompi_type_release releases it. Operations that continue after
// their call need a reference, because the application may free the type meanwhile. Neither function blocks.
static inline void gompi_type_retain(const struct gompi_type *t) {
	if (gompi_type_is_freeable(t))
		gompi_add(&gompi_type_meta(t)->ref_count, 1);
}

// Frees a type without references, and releases the types that it was constructed from.
void gompi_type_destroy(const struct gompi_type *t);

static inline void gompi_type_release(const struct gompi_type *t) {
	// seq_cst: the reads of the type by all threads come before free() in the thread that drops the last reference
	if (gompi_type_is_freeable(t) && gompi_sub_seq_cst(&gompi_type_meta(t)->ref_count, 1) == 1)
		gompi_type_destroy(t);
}

#pragma GCC visibility pop
#endif
