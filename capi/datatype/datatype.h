// Datatypes on the data path: looking up the flattened form by handle, and walking over the bytes it describes.
// core/datatype makes the form and documents it (format.go); most types are constructed here (construct.c), to the same
// form.
//
// A program is a flat array of int64_t words; a `const struct gompi_type *` is its beginning and the word indices in it
// count from there. All sizes, offsets and extents are in bytes. What is here never fails, blocks or calls Go; callers
// check bounds before (gompi_type_bounds).
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

// The head of a program: the words of core/datatype/format.go in their order.
struct gompi_type {
	int64_t magic;       // 0: no type, or not committed
	int64_t words;       // in the whole program
	int64_t flags;       // GOMPI_TYPE_ flags
	int64_t elem;        // handle of the one predefined type of all elements, or 0
	int64_t elem_size;   // distance of elements in an array of them; 0 without elem
	int64_t elements;    // number of elements of predefined types
	int64_t size;        // bytes of data
	int64_t lb;          // lower bound
	int64_t extent;      // distance of copies
	int64_t true_lb;     // lowest byte touched
	int64_t true_ub;     // one past the highest byte touched
	int64_t depth;       // levels of nodes
	int64_t segments;    // contiguous pieces of one copy
	int64_t origin;      // displacement of the first byte in typemap order
	int64_t root;        // node of all bytes
	int64_t elem_origin; // displacement of the first element
	int64_t elem_root;   // node of all elements including the gaps inside them
	int64_t block;       // with GOMPI_TYPE_STRIDED: repeat blocks of block bytes, stride apart, from origin
	int64_t repeat;
	int64_t stride;
};
_Static_assert(sizeof(struct gompi_type) == GOMPI_TYPE_HEAD * sizeof(int64_t), "the head of a program");

enum {
	GOMPI_TYPE_CONTIGUOUS = 1, // count copies are count*size bytes at origin
	GOMPI_TYPE_ELEM_CONTIGUOUS =
		2, // count copies are count*elements elements, elem_size bytes each, at elem_origin
	GOMPI_TYPE_STRIDED = 4,
	GOMPI_TYPE_OVERLAP = 8, // some byte may be touched twice by one copy; without it none is
};

// Where the types are: a predefined type lies in the slot of its handle, the others are in a table of live handles,
// which C makes for all, those that Go constructs included.
enum { GOMPI_TYPE_FIRST = 0x200, GOMPI_TYPE_PREDEFINED = 0x100, GOMPI_TYPE_SLOT_WORDS = 32 };
#define GOMPI_TYPE_MAGIC INT64_C(0x31455059544950) // core/datatype's

extern _Alignas(64) int64_t gompi_type_slots[GOMPI_TYPE_PREDEFINED][GOMPI_TYPE_SLOT_WORDS];
extern struct gompi_handles gompi_types;

// gompi_type_live returns the type with this handle, committed or not, or NULL.
static inline const struct gompi_type *gompi_type_live(MPI_Datatype datatype) {
	uintptr_t h = (uintptr_t)datatype;
	if (__builtin_expect(h - GOMPI_TYPE_FIRST < GOMPI_TYPE_PREDEFINED, 1)) {
		const struct gompi_type *t = (const struct gompi_type *)gompi_type_slots[h - GOMPI_TYPE_FIRST];
		return t->magic ? t : NULL;
	}
	return gompi_table_get(&gompi_types.table, h);
}

// gompi_type_get returns the committed type with this handle, or NULL. It stays valid until the type is freed; who
// needs it longer holds it (gompi_type_hold).
static inline const struct gompi_type *gompi_type_get(MPI_Datatype datatype) {
	const struct gompi_type *t = gompi_type_live(datatype);
	return t != NULL && t->magic ? t : NULL;
}

// gompi_type_bytes gives the bytes of data of count copies. false: count is negative or the product does not fit.
static inline bool gompi_type_bytes(const struct gompi_type *t, int64_t count, int64_t *bytes) {
	return count >= 0 && !__builtin_mul_overflow(count, t->size, bytes);
}

// gompi_type_bounds gives the lowest byte and one past the highest that count copies touch, relative to the buffer's
// address; 0, 0 if none. false: count is negative or a bound does not fit.
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

// gompi_type_overlaps says whether count copies may touch a byte twice, so that it matters in which order their entries
// are written. false: certainly not.
bool gompi_type_overlaps(const struct gompi_type *t, int64_t count);

// gompi_invalid_address tells that data which begins lo bytes behind buf is not in memory: in the first page there is
// none, so buf is NULL or another of MPI's constants, or it is MPI_BOTTOM and the displacements of the type are not
// addresses.
static inline bool gompi_invalid_address(const void *buf, int64_t lo) { return (uintptr_t)buf + (uintptr_t)lo < 4096; }

// n blocks of block bytes, stride apart; the first lies at offset from the buffer's address.
struct gompi_run {
	int64_t offset, block, n, stride;
};

// What a cursor iterates over.
enum gompi_view {
	GOMPI_BYTES,    // the bytes of data
	GOMPI_ELEMENTS, // the elements, with the gaps inside pair types
};

// A position in the bytes that a number of copies of a type touch, in the order of the typemap (the order of packing).
struct gompi_cursor {
	const int64_t *prog;
	int64_t origin, root;
	int64_t one;    // packed bytes of one copy
	int64_t copies; // number of them
	int64_t extent;
	int64_t copy;         // the one that the stack is in
	struct gompi_run run; // the blocks at hand; n 0: none
	int64_t skip;         // bytes taken of the run's first block
	int depth;            // frames in use
	struct gompi_cursor_frame {
		int64_t node, i, base;
	} stack[GOMPI_TYPE_MAX_DEPTH];
};

// gompi_cursor_init goes to the first byte of count copies, of which gompi_type_bytes and gompi_type_bounds were true.
void gompi_cursor_init(struct gompi_cursor *c, const struct gompi_type *t, int64_t count, enum gompi_view view);

// gompi_cursor_seek goes to the byte after pos packed ones, in O(depth + log n).
void gompi_cursor_seek(struct gompi_cursor *c, int64_t pos);

// gompi_cursor_drop leaves n blocks of the run behind.
void gompi_cursor_advance(struct gompi_cursor *c);
static inline void gompi_cursor_drop(struct gompi_cursor *c, int64_t n) {
	c->run.n -= n;
	c->run.offset += n * c->run.stride;
	c->skip = 0;
	if (!c->run.n)
		gompi_cursor_advance(c);
}

// gompi_cursor_next takes up to limit > 0 bytes that lie together: how many, and where they are. 0: there are no more.
static inline int64_t gompi_cursor_next(struct gompi_cursor *c, int64_t limit, int64_t *offset) {
	if (!c->run.n)
		return 0;
	*offset = c->run.offset + c->skip;
	int64_t n = c->run.block - c->skip;
	if (limit < n)
		n = limit;
	c->skip += n;
	if (c->skip == c->run.block)
		gompi_cursor_drop(c, 1);
	return n;
}

// gompi_cursor_run takes all whole blocks at equal distances that are at hand, of at most limit bytes together. n 0:
// there are no more, or not even one block fits (gompi_cursor_next takes a part of it).
static inline struct gompi_run gompi_cursor_run(struct gompi_cursor *c, int64_t limit) {
	struct gompi_run r = c->run;
	if (!r.n)
		return r;
	if (c->skip)
		r = (struct gompi_run){r.offset + c->skip, r.block - c->skip, 1, 0};
	if (r.n > 1 || r.block > limit) {
		int64_t fit = limit / r.block;
		if (fit < r.n)
			r.n = fit;
	}
	if (r.n)
		gompi_cursor_drop(c, r.n);
	return r;
}

// gompi_cursor_pack copies the next bytes of a cursor over src to dst, gompi_cursor_unpack those at src to where a
// cursor over dst says: limit bytes, or all that are left. They return how many.
int64_t gompi_cursor_pack(char *dst, const char *src, struct gompi_cursor *c, int64_t limit);
int64_t gompi_cursor_unpack(char *dst, struct gompi_cursor *c, const char *src, int64_t limit);

// gompi_type_of_elements makes a type of n elements of a predefined type, in GOMPI_ELEMENTS_WORDS(n) words of the
// caller's, who then writes their displacements to what is returned. It serves cursors over elements only. flags:
// GOMPI_TYPE_OVERLAP or none.
#define GOMPI_ELEMENTS_WORDS(n) (GOMPI_TYPE_HEAD + 8 + (n))
int64_t *gompi_type_of_elements(int64_t *words, const struct gompi_type *element, int64_t n, int64_t flags);

// gompi_type_as_bytes makes a copy of t of which every byte is an element, MPI_BYTE; the caller frees it. NULL: there
// is no memory.
struct gompi_type *gompi_type_as_bytes(const struct gompi_type *t);

// gompi_copy_blocks copies n blocks between two places that do not overlap.
void gompi_copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride, int64_t block,
		       int64_t n);

// gompi_typed_copy copies scount copies of st at src to dcount copies of dt at dst, in typemap order on both sides,
// until one is used up, and returns the bytes. The two do not overlap.
int64_t gompi_typed_copy(void *dst, int64_t dcount, const struct gompi_type *dt, const void *src, int64_t scount,
			 const struct gompi_type *st);

// gompi_typed_pack copies up to limit bytes from position on of the packed form of count copies of t at buf to out, and
// returns the bytes; gompi_typed_unpack goes the other way.
int64_t gompi_typed_pack(void *out, int64_t limit, const void *buf, int64_t count, const struct gompi_type *t,
			 int64_t position);
int64_t gompi_typed_unpack(void *buf, int64_t count, const struct gompi_type *t, int64_t position, const void *in,
			   int64_t limit);

// What the calls that only ask tell of a type, committed or not (facts.h), and what constructing others from it takes.
struct gompi_facts {
	int64_t size, lb, extent, true_lb, true_extent; // in bytes
	int64_t numbers;                                // basic elements of one copy, where a pair type is two
	int64_t unit;                                   // bytes of each of these; 0: they differ, or there are none
	// MPI_Type_get_envelope_c
	int64_t integers, addresses, counts, types;
	int combiner;
	int align;    // the largest alignment of an element, 1 without elements
	int reversed; // bytes of what external32 has in reverse, and nothing else is different there; 0: something is
	bool large;   // only the forms with MPI_Count can tell how it was constructed
	bool resized; // lb and extent were given, not found
};

// What stands in front of the program of a type that is not predefined.
struct gompi_type_life {
	_Alignas(16) gompi_a64 holds; // one is the handle's
	uintptr_t handle;
	_Atomic uintptr_t number;          // by which Go finds it; 0: Go does not know it (yet)
	const struct gompi_recipe *recipe; // how C has constructed it; NULL: Go has
	int64_t words;                     // of the program
	size_t room;                       // bytes of this and what follows it
	bool holder;                       // of types that it was constructed from
	const struct gompi_type *next;     // of those that are to be ended
	struct gompi_facts facts;
};

// gompi_type_install makes a program of so many words (copied) the predefined type with this handle. false: there is no
// room for it.
bool gompi_type_install(uintptr_t handle, struct gompi_facts facts, const int64_t *program, int64_t words);

// gompi_type_new returns a type that has no handle yet, with room for so many words, the head's zero, and for more
// bytes; NULL: there is no memory.
struct gompi_type *gompi_type_new(int64_t words, size_t more);
// gompi_type_add gives a new type its handle; 0: there is no memory, or as many are live as can be, and the type has
// gone. It is committed if its magic says so.
uintptr_t gompi_type_add(struct gompi_type *t);
// gompi_type_add_program does both for a program of Go's, which has this number there.
uintptr_t gompi_type_add_program(struct gompi_facts facts, const int64_t *program, int64_t words, uintptr_t number);
// gompi_type_commit_handle makes the type with this handle a committed one. false: there is none.
bool gompi_type_commit_handle(uintptr_t handle);

// gompi_type_remove ends the handle of a type: nothing finds it any more. false: there is none. Its memory stays for
// those who hold it, and for a while after them, so that a call that wrongly still uses it in another thread reads an
// old type and not garbage.
bool gompi_type_remove(uintptr_t handle);
// gompi_type_remove_known does the same, and stores the number by which Go found it, 0: it did not.
bool gompi_type_remove_known(uintptr_t handle, uintptr_t *number);

static inline struct gompi_type_life *gompi_type_life(const struct gompi_type *t) {
	return (struct gompi_type_life *)(uintptr_t)t - 1;
}

// gompi_type_mortal tells whether a type that gompi_type_get has returned can go: predefined types cannot.
static inline bool gompi_type_mortal(const struct gompi_type *t) {
	return (uintptr_t)t - (uintptr_t)gompi_type_slots >= sizeof gompi_type_slots;
}

// gompi_type_hold keeps the memory of a type that gompi_type_get has returned until gompi_type_drop has been called as
// often: for an operation that goes on after its call, since the application may free the type meanwhile. Neither
// blocks.
static inline void gompi_type_hold(const struct gompi_type *t) {
	if (gompi_type_mortal(t))
		gompi_add(&gompi_type_life(t)->holds, 1);
}

// Frees a type that nobody holds, and lets go what it was constructed from.
void gompi_type_end(const struct gompi_type *t);

static inline void gompi_type_drop(const struct gompi_type *t) {
	// total: whoever frees it comes after all that others have read
	if (gompi_type_mortal(t) && gompi_sub_total(&gompi_type_life(t)->holds, 1) == 1)
		gompi_type_end(t);
}

// For Go: gompi_type_find returns a live type that Go does not know, held, or NULL and its number, 0 if there is none.
// gompi_type_know gives it a number; false: it has been freed.
const struct gompi_type *gompi_type_find(uintptr_t handle, uintptr_t *number);
bool gompi_type_know(const struct gompi_type *t, uintptr_t number);
static inline uintptr_t gompi_type_number(const struct gompi_type *t) {
	return gompi_load(&gompi_type_life(t)->number);
}
static inline bool gompi_type_committed(uintptr_t handle) { return gompi_type_get((MPI_Datatype)handle) != NULL; }

#pragma GCC visibility pop
#endif
