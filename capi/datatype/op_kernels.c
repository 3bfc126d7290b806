// The loops of the predefined reductions and the table of these loops. One X-macro list contains the C type and the
// class of each predefined datatype. The class determines which operations the datatype allows. op_avx2.c and
// op_avx512.c each compile this file again.
#include "datatype/op.h"

#include <stdbool.h>
#include <string.h>

#pragma GCC optimize("O3")

// The C types of the elements. They may be unaligned and may alias anything: the memory is the application's, and a
// displacement may be odd.
#define UNALIGNED __attribute__((aligned(1), may_alias))
typedef int8_t i8 UNALIGNED;
typedef int16_t i16 UNALIGNED;
typedef int32_t i32 UNALIGNED;
typedef int64_t i64 UNALIGNED;
typedef __int128 i128 UNALIGNED;
typedef uint8_t u8 UNALIGNED;
typedef uint16_t u16 UNALIGNED;
typedef uint32_t u32 UNALIGNED;
typedef uint64_t u64 UNALIGNED;
typedef unsigned __int128 u128 UNALIGNED;
typedef _Float16 f16 UNALIGNED;
typedef float f32 UNALIGNED;
typedef double f64 UNALIGNED;
typedef long double f80 UNALIGNED;
typedef _Float128 f128 UNALIGNED;

// Macros that define lists, kernels and tables; clang-format would break their layout.
// clang-format off
#define COMPLEX_TYPE(name, part) \
	typedef struct __attribute__((may_alias)) { part re, im; } name##_aligned; \
	typedef name##_aligned name __attribute__((aligned(1)));
COMPLEX_TYPE(c16, _Float16)
COMPLEX_TYPE(c32, float)
COMPLEX_TYPE(c64, double)
COMPLEX_TYPE(c80, long double)
COMPLEX_TYPE(c128, _Float128)

#define PAIR_TYPE(name, vtype, itype) \
	typedef struct __attribute__((may_alias)) { vtype v; itype i; } name##_aligned; \
	typedef name##_aligned name __attribute__((aligned(1)));
PAIR_TYPE(float_int, float, int)
PAIR_TYPE(double_int, double, int)
PAIR_TYPE(long_int, long, int)
PAIR_TYPE(int_int, int, int)
PAIR_TYPE(i64_i64, int64_t, int64_t)
PAIR_TYPE(short_int, short, int)
PAIR_TYPE(long_double_int, long double, int)
PAIR_TYPE(float_float, float, float)
PAIR_TYPE(double_double, double, double)

_Static_assert(sizeof(f80) == 16 && sizeof(f128) == 16 && sizeof(c80) == 32 && sizeof(long_double_int) == 32,
	"the sizes in core/datatype");

// The types in which integers are added and multiplied. They are unsigned, so that results wrap around. They are at
// least as wide as int, so that C does not promote them to a signed type.
typedef uint32_t wide_i8, wide_u8, wide_i16, wide_u16, wide_i32, wide_u32;
typedef uint64_t wide_i64, wide_u64;
typedef unsigned __int128 wide_i128, wide_u128;
// Half precision is computed in single precision, and the result is rounded once.
typedef float wide_f16, wide_c16, wide_f32, wide_c32;
typedef double wide_f64, wide_c64;
typedef long double wide_f80, wide_c80;
typedef _Float128 wide_f128, wide_c128;

// The handle of a pair of INTEGER8s, which has no name in MPI (core/datatype.TwoInteger8).
#define MPI_2INTEGER8 ((MPI_Datatype)0x233)

// The predefined datatypes: name after MPI_, C type, class. The class determines the allowed operations.
#define TYPES(X) \
	X(AINT, i64, ADDRESS) X(COUNT, i64, ADDRESS) X(OFFSET, i64, ADDRESS) \
	X(PACKED, u8, OPAQUE) X(BYTE, u8, BYTE) \
	X(SHORT, i16, INTEGER) X(INT, i32, INTEGER) X(LONG, i64, INTEGER) X(LONG_LONG, i64, INTEGER) \
	X(UNSIGNED_SHORT, u16, INTEGER) X(UNSIGNED, u32, INTEGER) X(UNSIGNED_LONG, u64, INTEGER) \
	X(UNSIGNED_LONG_LONG, u64, INTEGER) X(SIGNED_CHAR, i8, INTEGER) X(UNSIGNED_CHAR, u8, INTEGER) \
	X(INT8_T, i8, INTEGER) X(UINT8_T, u8, INTEGER) X(INT16_T, i16, INTEGER) X(UINT16_T, u16, INTEGER) \
	X(INT32_T, i32, INTEGER) X(UINT32_T, u32, INTEGER) X(INT64_T, i64, INTEGER) X(UINT64_T, u64, INTEGER) \
	X(FLOAT, f32, FLOATING) X(DOUBLE, f64, FLOATING) X(LONG_DOUBLE, f80, FLOATING) \
	X(C_FLOAT_COMPLEX, c32, COMPLEX) X(C_DOUBLE_COMPLEX, c64, COMPLEX) X(C_LONG_DOUBLE_COMPLEX, c80, COMPLEX) \
	X(CXX_FLOAT_COMPLEX, c32, COMPLEX) X(CXX_DOUBLE_COMPLEX, c64, COMPLEX) \
	X(CXX_LONG_DOUBLE_COMPLEX, c80, COMPLEX) \
	X(C_BOOL, u8, LOGICAL) X(CXX_BOOL, u8, LOGICAL) X(CHAR, i8, INTEGER) X(WCHAR, u32, OPAQUE) \
	X(LOGICAL, u32, LOGICAL) X(INTEGER, i32, FORTRAN) X(REAL, f32, FLOATING) X(COMPLEX, c32, COMPLEX) \
	X(DOUBLE_PRECISION, f64, FLOATING) X(DOUBLE_COMPLEX, c64, COMPLEX) X(CHARACTER, i8, INTEGER) \
	X(LOGICAL1, u8, LOGICAL) X(LOGICAL2, u16, LOGICAL) X(LOGICAL4, u32, LOGICAL) X(LOGICAL8, u64, LOGICAL) \
	X(LOGICAL16, u128, LOGICAL) \
	X(INTEGER1, i8, FORTRAN) X(INTEGER2, i16, FORTRAN) X(INTEGER4, i32, FORTRAN) X(INTEGER8, i64, FORTRAN) \
	X(INTEGER16, i128, FORTRAN) \
	X(REAL2, f16, FLOATING) X(REAL4, f32, FLOATING) X(REAL8, f64, FLOATING) X(REAL16, f128, FLOATING) \
	X(COMPLEX4, c16, COMPLEX) X(COMPLEX8, c32, COMPLEX) X(COMPLEX16, c64, COMPLEX) X(COMPLEX32, c128, COMPLEX) \
	X(FLOAT_INT, float_int, PAIR) X(DOUBLE_INT, double_int, PAIR) X(LONG_INT, long_int, PAIR) \
	X(2INT, int_int, PAIR) \
	X(SHORT_INT, short_int, PAIR) X(LONG_DOUBLE_INT, long_double_int, PAIR) X(2REAL, float_float, PAIR) \
	X(2DOUBLE_PRECISION, double_double, PAIR) X(2INTEGER, int_int, PAIR) X(2INTEGER8, i64_i64, PAIR)

// Marks a kernel whose products must be rounded before they are added. op_avx512.c defines it, so that gcc does not
// fuse multiplication and addition.
#ifndef ROUNDED
#define ROUNDED
#endif

// Defines a kernel that runs `statement` for each element. In the statement, `a` points to the origin's element and `b`
// to the target's element.
#define KERNEL(name, type, statement) \
	static void name##_##type(const void *origin, void *target, size_t n) \
	{ \
		const type *in = origin; \
		type *inout = target; \
		for (size_t k = 0; k < n; k++) { \
			const type *a = in + k; \
			type *b = inout + k; \
			statement; \
		} \
	}

#define SUM_KERNEL(T) KERNEL(SUM, T, *b = (T)((wide_##T)*b + (wide_##T)*a))
#define PROD_KERNEL(T) KERNEL(PROD, T, *b = (T)((wide_##T)*b * (wide_##T)*a))
#define MIN_KERNEL(T) KERNEL(MIN, T, *b = *a < *b ? *a : *b)
#define MAX_KERNEL(T) KERNEL(MAX, T, *b = *b < *a ? *a : *b)
#define BIT_KERNELS(T) KERNEL(BAND, T, *b = *b & *a) KERNEL(BOR, T, *b = *b | *a) KERNEL(BXOR, T, *b = *b ^ *a)
#define LOGICAL_KERNELS(T) \
	KERNEL(LAND, T, *b = *b && *a) KERNEL(LOR, T, *b = *b || *a) KERNEL(LXOR, T, *b = !*b != !*a)
#define COMPLEX_KERNELS(T) \
	KERNEL(SUM, T, b->re = (wide_##T)b->re + (wide_##T)a->re; b->im = (wide_##T)b->im + (wide_##T)a->im) \
	ROUNDED KERNEL(PROD, T, \
		wide_##T ar = a->re; wide_##T ai = a->im; wide_##T br = b->re; wide_##T bi = b->im; \
		b->re = br * ar - bi * ai; \
		b->im = br * ai + bi * ar)
// The else branch compares the indices before the values: in most cases the origin's index is not smaller, and the
// second comparison is not needed.
#define PAIR_KERNELS(T) \
	KERNEL(MINLOC, T, \
		if (a->v < b->v) { b->v = a->v; b->i = a->i; } else if (a->i < b->i && a->v == b->v) b->i = a->i) \
	KERNEL(MAXLOC, T, \
		if (b->v < a->v) { b->v = a->v; b->i = a->i; } else if (a->i < b->i && a->v == b->v) b->i = a->i) \
	KERNEL(REPLACE, T, b->v = a->v; b->i = a->i)
#define REPLACE_KERNEL(T) \
	static void REPLACE_##T(const void *origin, void *target, size_t n) { memcpy(target, origin, n * sizeof(T)); }

static void NO_OP(const void *origin, void *target, size_t n)
{
	(void)origin;
	(void)target;
	(void)n;
}

#define ARITHMETIC(T) SUM_KERNEL(T) PROD_KERNEL(T) MIN_KERNEL(T) MAX_KERNEL(T)
#define INTEGER(T) ARITHMETIC(T) BIT_KERNELS(T) LOGICAL_KERNELS(T) REPLACE_KERNEL(T)
#define FLOATING(T) ARITHMETIC(T) REPLACE_KERNEL(T)
#define COMPLEX(T) COMPLEX_KERNELS(T) REPLACE_KERNEL(T)
INTEGER(i8) INTEGER(i16) INTEGER(i32) INTEGER(i64)
INTEGER(u8) INTEGER(u16) INTEGER(u32) INTEGER(u64)
ARITHMETIC(i128) BIT_KERNELS(i128) REPLACE_KERNEL(i128)
LOGICAL_KERNELS(u128) REPLACE_KERNEL(u128)
FLOATING(f16) FLOATING(f32) FLOATING(f64) FLOATING(f80) FLOATING(f128)
COMPLEX(c16) COMPLEX(c32) COMPLEX(c64) COMPLEX(c80) COMPLEX(c128)
PAIR_KERNELS(float_int) PAIR_KERNELS(double_int) PAIR_KERNELS(long_int) PAIR_KERNELS(int_int) PAIR_KERNELS(short_int)
PAIR_KERNELS(i64_i64) PAIR_KERNELS(long_double_int) PAIR_KERNELS(float_float) PAIR_KERNELS(double_double)

// Rows (operations) and columns (types) of the table of kernels.
enum { ROW_SUM = 1, ROW_MIN, ROW_MAX, ROW_PROD, ROW_BAND, ROW_BOR, ROW_BXOR,
	ROW_LAND, ROW_LOR, ROW_LXOR, ROW_MINLOC, ROW_MAXLOC, ROW_REPLACE, ROW_NO_OP, ROWS };
#define COLUMN(h, T, class) COLUMN_##h,
enum { COLUMN_NONE, TYPES(COLUMN) COLUMNS };
_Static_assert((int)ROWS == GOMPI_OP_ROWS && (int)COLUMNS <= GOMPI_OP_COLUMNS, "op.h");

#define ROW(op) [(uintptr_t)MPI_##op - GOMPI_OP_FIRST] = ROW_##op
#ifndef GOMPI_OP_VARIANT
const uint8_t gompi_op_row[GOMPI_OP_HANDLES] = {
	ROW(SUM), ROW(MIN), ROW(MAX), ROW(PROD), ROW(BAND), ROW(BOR), ROW(BXOR), ROW(LAND), ROW(LOR), ROW(LXOR),
	ROW(MINLOC), ROW(MAXLOC), ROW(REPLACE), ROW(NO_OP),
};
#define NAME(op) [(uintptr_t)MPI_##op - GOMPI_OP_FIRST] = "MPI_" #op
const char *const gompi_op_name[GOMPI_OP_HANDLES] = {
	NAME(SUM), NAME(MIN), NAME(MAX), NAME(PROD), NAME(BAND), NAME(BOR), NAME(BXOR), NAME(LAND), NAME(LOR),
	NAME(LXOR), NAME(MINLOC), NAME(MAXLOC), NAME(REPLACE), NAME(NO_OP),
};
#define COLUMN_OF(h, T, class) [(uintptr_t)MPI_##h - GOMPI_OP_TYPE_FIRST] = COLUMN_##h,
const uint8_t gompi_op_column[GOMPI_OP_TYPE_HANDLES] = {TYPES(COLUMN_OF)};
#endif

#define PUT(op, h, T) [ROW_##op][COLUMN_##h] = op##_##T,
#define PUT_OPAQUE(h, T) PUT(REPLACE, h, T) [ROW_NO_OP][COLUMN_##h] = NO_OP,
#define PUT_BITS(h, T) PUT(BAND, h, T) PUT(BOR, h, T) PUT(BXOR, h, T)
#define PUT_LOGICAL(h, T) PUT(LAND, h, T) PUT(LOR, h, T) PUT(LXOR, h, T) PUT_OPAQUE(h, T)
#define PUT_COMPLEX(h, T) PUT(SUM, h, T) PUT(PROD, h, T) PUT_OPAQUE(h, T)
#define PUT_FLOATING(h, T) PUT(MIN, h, T) PUT(MAX, h, T) PUT_COMPLEX(h, T)
#define PUT_FORTRAN(h, T) PUT_FLOATING(h, T) PUT_BITS(h, T)
#define PUT_INTEGER(h, T) PUT_FORTRAN(h, T) PUT(LAND, h, T) PUT(LOR, h, T) PUT(LXOR, h, T)
#define PUT_ADDRESS(h, T) PUT_INTEGER(h, T)
#define PUT_BYTE(h, T) PUT_BITS(h, T) PUT_OPAQUE(h, T)
#define PUT_PAIR(h, T) PUT(MINLOC, h, T) PUT(MAXLOC, h, T) PUT_OPAQUE(h, T)
#define FILL(h, T, class) PUT_##class(h, T)
#ifdef GOMPI_OP_VARIANT
const gompi_kernel GOMPI_OP_VARIANT[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS] = {TYPES(FILL)};
#else
static const gompi_kernel plain_kernels[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS] = {TYPES(FILL)};
#endif
// clang-format on

#ifndef GOMPI_OP_VARIANT
const gompi_kernel (*gompi_op_kernels)[GOMPI_OP_COLUMNS] = plain_kernels;

#if defined(__x86_64__)
static __attribute__((constructor)) void choose_kernels(void) {
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		gompi_op_kernels = gompi_op_avx512;
	else if (__builtin_cpu_supports("avx2"))
		gompi_op_kernels = gompi_op_avx2;
}
#endif

int gompi_op_apply(uintptr_t op, uintptr_t type, const void *in, void *inout, size_t n) {
	gompi_kernel kernel = gompi_op_kernel((MPI_Op)op, (MPI_Datatype)type);
	if (!kernel)
		return -1;
	kernel(in, inout, n);
	return 0;
}
#endif
