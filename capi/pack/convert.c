#include "pack/convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "datatype/predefined.h"
#include "datatype/recipe.h"
#include "datatype/type_props.h"

// Copies n bytes and reverses the bytes of each number, which has `size` <= 8 bytes. The shift moves the reversed bytes
// to the beginning of the word. `to` may equal `from`.
static inline __attribute__((always_inline)) void swap_units(char *to, const char *from, int64_t n, int size) {
	for (int64_t i = 0; i < n; i += size) {
		uint64_t word = 0;
		memcpy(&word, from + i, (size_t)size);
		word = __builtin_bswap64(word) >> (64 - 8 * size);
		memcpy(to + i, &word, (size_t)size);
	}
}

void gompi_swap_bytes(char *to, const char *from, int64_t n, int size) {
	switch (size) {
	case 1:
		if (to != from)
			memcpy(to, from, (size_t)n);
		break;
	case 2:
		swap_units(to, from, n, 2);
		break;
	case 4:
		swap_units(to, from, n, 4);
		break;
	case 8:
		swap_units(to, from, n, 8);
		break;
	default: // 16
		for (int64_t i = 0; i < n; i += 16) {
			char halves[16];
			swap_units(halves + 8, from + i, 8, 8);
			swap_units(halves, from + i + 8, 8, 8);
			memcpy(to + i, halves, 16);
		}
	}
}

// Converts x86's 80-bit format (in 16 bytes) to IEEE binary128 in big-endian order. It is exact.
static void pack_long_double(char *quad, const char *x87) {
	uint64_t m, words[2];
	uint16_t se;
	memcpy(&m, x87, sizeof m);
	memcpy(&se, x87 + 8, sizeof se);
	if ((se & 0x7fff) == 0 && m >> 63 != 0)
		se++;              // a pseudo-denormal: the same value as a normal number
	m &= ~(UINT64_C(1) << 63); // binary128 does not store the leading one
	words[0] = m << 49;
	words[1] = (uint64_t)se << 48 | m >> 15;
	gompi_swap_bytes(quad, (const char *)words, 16, 16);
}

// Converts binary128 in big-endian order to the 80-bit format, rounding to nearest, ties to even.
static void unpack_long_double(char *x87, const char *quad) {
	uint64_t words[2];
	gompi_swap_bytes((char *)words, quad, 16, 16);
	uint64_t lo = words[0], hi = words[1];
	uint16_t se = (uint16_t)(hi >> 48), exponent = se & 0x7fff;
	uint64_t m = hi << 16 >> 1 | lo >> 49; // the upper 63 bits of the fraction
	uint64_t rest = lo << 15;              // the remaining bits below them
	const uint64_t top = UINT64_C(1) << 63;
	if (exponent == 0x7fff) { // infinity, NaN
		if (m == 0 && rest != 0)
			m = top >> 1;
		m |= top;
	} else {
		if (exponent != 0)
			m |= top;
		if (rest > top || (rest == top && (m & 1) != 0)) {
			m++;
			if (m == 0) {
				m = top;
				se++;
			} else if (exponent == 0 && m >> 63 != 0) {
				se++;
			}
		}
	}
	memset(x87, 0, 16);
	memcpy(x87, &m, sizeof m);
	memcpy(x87 + 8, &se, sizeof se);
}

// Converts a number whose external form has 4 or 2 bytes. Returns MPI_SUCCESS, or fills in the error status if the
// number does not fit.
static int convert_narrow(struct gompi_error_status *v, uintptr_t type, char *native, char *external, bool is_pack) {
	uint64_t wide = 0;
	uint32_t narrow = 0;
	if (type == (uintptr_t)MPI_WCHAR && is_pack) {
		memcpy(&narrow, native, sizeof narrow);
		if (narrow > 0xffff)
			return gompi_set_error(v, MPI_ERR_CONVERSION,
					       "wide character %#x does not fit into the 2 bytes of external32",
					       narrow);
		gompi_swap_bytes(external, (const char *)&narrow, 2, 2);
	} else if (type == (uintptr_t)MPI_WCHAR) {
		gompi_swap_bytes((char *)&narrow, external, 2, 2);
		memcpy(native, &narrow, sizeof narrow);
	} else if (is_pack) {
		memcpy(&wide, native, sizeof wide);
		narrow = (uint32_t)wide;
		bool is_signed = type == (uintptr_t)MPI_LONG;
		if (is_signed ? (int64_t)wide != (int32_t)narrow : wide != narrow)
			return gompi_set_error(
				v, MPI_ERR_CONVERSION,
				is_signed ? "MPI_LONG value %lld does not fit into the 4 bytes of external32"
					  : "MPI_UNSIGNED_LONG value %llu does not fit into the 4 bytes "
					    "of external32",
				(long long)wide);
		gompi_swap_bytes(external, (const char *)&narrow, 4, 4);
	} else {
		gompi_swap_bytes((char *)&narrow, external, 4, 4);
		wide = type == (uintptr_t)MPI_LONG ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
		memcpy(native, &wide, sizeof wide);
	}
	return MPI_SUCCESS;
}

// Converts one element of a predefined type that is not a pair, without gaps.
static int convert_number(struct gompi_error_status *v, const struct gompi_type *t, char *native, char *external,
			  bool is_pack) {
	const struct gompi_type_props *f = gompi_type_props_of(t);
	if (f->swap_unit_bytes != 0) {
		gompi_swap_bytes(is_pack ? external : native, is_pack ? native : external, t->size, f->swap_unit_bytes);
		return MPI_SUCCESS;
	}
	if (t->size != f->external_bytes)
		return convert_narrow(v, (uintptr_t)t->elem, native, external, is_pack);
	for (int64_t i = 0; i < t->size; i += 16) // long double, or a complex number of long doubles
		is_pack ? pack_long_double(external + i, native + i) : unpack_long_double(native + i, external + i);
	return MPI_SUCCESS;
}

// The state of a conversion.
struct converter {
	const struct gompi_type *t;
	int64_t count;
	void *data;
	char *external;         // the part that is not converted yet
	int64_t external_bytes; // bytes of that part
	bool is_full;           // the next number does not fit into that part
	bool is_pack;
	int64_t position, used, filled; // position of the segment in the packed data; its converted and its total bytes
	char native[4096];              // the segment
};

// Advances to the segment after the converted data. Stores the converted data (unpacking) or loads the new segment
// (packing).
static void next_segment(struct converter *x) {
	if (!x->is_pack)
		gompi_typed_unpack(x->data, x->count, x->t, x->position, x->native, x->used);
	x->position += x->used;
	x->used = 0;
	x->filled = gompi_min_i64((int64_t)sizeof x->native, x->count * x->t->size - x->position);
	if (x->is_pack)
		gompi_typed_pack(x->native, x->filled, x->data, x->count, x->t, x->position);
}

// Converts n elements of a predefined type. Stops with x->is_full set before a number that does not fit.
static int convert_elements(struct gompi_error_status *v, struct converter *x, const struct gompi_type *basic,
			    int64_t n) {
	uintptr_t value, index;
	const struct gompi_type *parts[2] = {basic, NULL};
	if (gompi_pair_parts((uintptr_t)basic->elem, &value, &index)) {
		parts[0] = gompi_type_get_any((MPI_Datatype)value);
		parts[1] = gompi_type_get_any((MPI_Datatype)index);
	}
	for (; n > 0; n--) {
		if (x->used + basic->size > x->filled)
			next_segment(x);
		for (int i = 0; i < 2 && parts[i] != NULL; i++) {
			const int64_t bytes = gompi_type_props_of(parts[i])->external_bytes;
			if (bytes > x->external_bytes) {
				x->is_full = true;
				return MPI_SUCCESS;
			}
			int class = convert_number(v, parts[i], x->native + x->used, x->external, x->is_pack);
			if (class != MPI_SUCCESS)
				return class;
			x->used += parts[i]->size;
			x->external += bytes;
			x->external_bytes -= bytes;
		}
	}
	return MPI_SUCCESS;
}

// `copies` copies of a type that remain to be converted. The components of the first copy before `component` have been
// converted.
struct level {
	const struct gompi_type *t;
	int64_t component, copies;
};

int gompi_external_convert(struct gompi_error_status *v, const struct gompi_type *t, int64_t count, void *data,
			   char *external, int64_t external_bytes, bool is_pack, int64_t *native_bytes) {
	struct converter x = {.t = t,
			      .count = count,
			      .data = data,
			      .external = external,
			      .external_bytes = external_bytes,
			      .is_pack = is_pack};
	struct level *stack = malloc(sizeof *stack);
	int64_t depth = 0, capacity = 1;
	int class = MPI_SUCCESS;
	if (stack != NULL)
		stack[depth++] = (struct level){t, 0, count};
	next_segment(&x);
	while (depth > 0 && class == MPI_SUCCESS && !x.is_full) {
		struct level *top = &stack[depth - 1];
		if (gompi_type_is_basic(top->t)) {
			class = convert_elements(v, &x, top->t, top->copies);
			depth--;
			continue;
		}
		int64_t components = gompi_type_meta(top->t)->recipe->type_count, n;
		const struct gompi_type *old = gompi_type_component(top->t, top->component, &n);
		if (components == 1) {
			*top = (struct level){old, 0, top->copies * n};
			continue;
		}
		if (++top->component == components) {
			top->component = 0;
			if (--top->copies == 0)
				depth--;
		}
		if (n == 0)
			continue;
		if (depth == capacity) {
			struct level *larger = realloc(stack, (size_t)(capacity *= 2) * sizeof *stack);
			if (larger == NULL)
				break;
			stack = larger;
		}
		stack[depth++] = (struct level){old, 0, n};
	}
	if (class == MPI_SUCCESS && (stack == NULL || (depth > 0 && !x.is_full)))
		class = gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the conversion of a datatype");
	*native_bytes = x.position + x.used;
	if (class == MPI_SUCCESS && !is_pack)
		next_segment(&x);
	free(stack);
	return class;
}
