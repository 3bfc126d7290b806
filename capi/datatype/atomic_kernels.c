// Atomic kernels: one for each operation and element class. Small accumulates use them.
#include <string.h>

#include "datatype/atomic.h"

#include "base/atomics.h"

// Macros that define lists, kernels and tables; clang-format would break their layout.
// clang-format off
#define INTEGER_CLASSES(X) \
	X(I8, int8_t, uint8_t) X(U8, uint8_t, uint8_t) X(I16, int16_t, uint16_t) X(U16, uint16_t, uint16_t) \
	X(I32, int32_t, uint32_t) X(U32, uint32_t, uint32_t) X(I64, int64_t, uint64_t) X(U64, uint64_t, uint64_t)
#define FLOAT_CLASSES(X) X(F32, float, uint32_t) X(F64, double, uint64_t)
#define RAW_CLASSES(X) \
	X(R8, uint8_t, uint8_t) X(R16, uint16_t, uint16_t) \
	X(R32, uint32_t, uint32_t) X(R64, uint64_t, uint64_t)

// Updates n elements of type U with an instruction that returns the old value.
#define FETCH(NAME, U, INSTRUCTION) \
	static void NAME(const void *origin, void *target, void *result, size_t n) { \
		const char *o = origin; \
		U *t = target; \
		for (size_t i = 0; i < n; i++) { \
			U x; \
			memcpy(&x, o + i * sizeof x, sizeof x); \
			if (result) { \
				U old = INSTRUCTION; \
				memcpy((char *)result + i * sizeof old, &old, sizeof old); \
			} else { \
				(void)INSTRUCTION; \
			} \
		} \
	}

// Reads n elements of type U.
#define READ(NAME, U) \
	static void NAME(const void *origin, void *target, void *result, size_t n) { \
		U *t = target; \
		(void)origin; \
		for (size_t i = 0; result && i < n; i++) { \
			U old = gompi_element_load(&t[i]); \
			memcpy((char *)result + i * sizeof old, &old, sizeof old); \
		} \
	}

// Updates n elements of type C, held as bits in U, each by a compare-and-swap loop. In EXPRESSION, `a` is the target's
// element and `b` the origin's element.
#define SWAP(NAME, C, U, EXPRESSION) \
	static void NAME(const void *origin, void *target, void *result, size_t n) { \
		U *t = target; \
		for (size_t i = 0; i < n; i++) { \
			C a, b, c; \
			memcpy(&b, (const char *)origin + i * sizeof b, sizeof b); \
			U old = gompi_element_load_relaxed(&t[i]), new; \
			do { \
				memcpy(&a, &old, sizeof a); \
				c = (C)(EXPRESSION); \
				memcpy(&new, &c, sizeof new); \
			} while (!gompi_element_cas_weak(&t[i], &old, new)); \
			if (result) \
				memcpy((char *)result + i * sizeof old, &old, sizeof old); \
		} \
	}

#define MOVES(N, C, U) \
	FETCH(replace_##N, U, gompi_element_swap(&t[i], x)) \
	READ(no_op_##N, U)
#define BITS(N, C, U) \
	FETCH(band_##N, U, gompi_element_and(&t[i], x)) \
	FETCH(bor_##N, U, gompi_element_or(&t[i], x)) \
	FETCH(bxor_##N, U, gompi_element_xor(&t[i], x))
#define LOGICALS(N, C, U) \
	SWAP(land_##N, U, U, a && b) \
	SWAP(lor_##N, U, U, a || b) \
	SWAP(lxor_##N, U, U, !a != !b)
// Integer sums and products wrap around, because they are computed in unsigned types. Products are computed in 64 bits:
// C would promote a smaller unsigned type to signed int.
#define INTEGERS(N, C, U) \
	FETCH(sum_##N, U, gompi_element_add(&t[i], x)) \
	SWAP(prod_##N, U, U, (uint64_t)a * b) \
	SWAP(min_##N, C, U, b < a ? b : a) \
	SWAP(max_##N, C, U, b > a ? b : a)
#define FLOATS(N, C, U) \
	SWAP(sum_##N, C, U, a + b) \
	SWAP(prod_##N, C, U, a * b) \
	SWAP(min_##N, C, U, b < a ? b : a) \
	SWAP(max_##N, C, U, b > a ? b : a)

RAW_CLASSES(MOVES)
RAW_CLASSES(BITS)
RAW_CLASSES(LOGICALS)
INTEGER_CLASSES(INTEGERS)
FLOAT_CLASSES(FLOATS)

#define OP(x) ((x) - 0x20)
#define INTEGER_ROW(NAME) \
	[GOMPI_I8] = NAME##_I8, [GOMPI_U8] = NAME##_U8, [GOMPI_I16] = NAME##_I16, [GOMPI_U16] = NAME##_U16, \
	[GOMPI_I32] = NAME##_I32, \
	[GOMPI_U32] = NAME##_U32, [GOMPI_I64] = NAME##_I64, [GOMPI_U64] = NAME##_U64
#define RAW_INTEGERS(NAME) \
	[GOMPI_I8] = NAME##_R8, [GOMPI_U8] = NAME##_R8, [GOMPI_I16] = NAME##_R16, [GOMPI_U16] = NAME##_R16, \
	[GOMPI_I32] = NAME##_R32, \
	[GOMPI_U32] = NAME##_R32, [GOMPI_I64] = NAME##_R64, [GOMPI_U64] = NAME##_R64
#define RAW_LOGICALS(NAME) \
	[GOMPI_L8] = NAME##_R8, [GOMPI_L16] = NAME##_R16, [GOMPI_L32] = NAME##_R32, [GOMPI_L64] = NAME##_R64
#define RAW_OTHERS(NAME) \
	[GOMPI_F32] = NAME##_R32, [GOMPI_F64] = NAME##_R64, [GOMPI_BYTE] = NAME##_R8, RAW_LOGICALS(NAME)
#define FLOAT_ROW(NAME) [GOMPI_F32] = NAME##_F32, [GOMPI_F64] = NAME##_F64

const gompi_atomic_kernel gompi_atomic_kernels[GOMPI_OP_HANDLES][GOMPI_CLASSES] = {
	[OP(0x21)] = {INTEGER_ROW(sum), FLOAT_ROW(sum)},
	[OP(0x22)] = {INTEGER_ROW(min), FLOAT_ROW(min)},
	[OP(0x23)] = {INTEGER_ROW(max), FLOAT_ROW(max)},
	[OP(0x24)] = {INTEGER_ROW(prod), FLOAT_ROW(prod)},
	[OP(0x28)] = {RAW_INTEGERS(band), [GOMPI_BYTE] = band_R8},
	[OP(0x29)] = {RAW_INTEGERS(bor), [GOMPI_BYTE] = bor_R8},
	[OP(0x2a)] = {RAW_INTEGERS(bxor), [GOMPI_BYTE] = bxor_R8},
	[OP(0x30)] = {RAW_INTEGERS(land), RAW_LOGICALS(land)},
	[OP(0x31)] = {RAW_INTEGERS(lor), RAW_LOGICALS(lor)},
	[OP(0x32)] = {RAW_INTEGERS(lxor), RAW_LOGICALS(lxor)},
	[OP(0x3c)] = {RAW_INTEGERS(replace), RAW_OTHERS(replace)},
	[OP(0x3d)] = {RAW_INTEGERS(no_op), RAW_OTHERS(no_op)},
};
// clang-format on
