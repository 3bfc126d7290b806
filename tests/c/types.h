/* Every predefined datatype of reductions and accumulates, with every operation allowed for it (MPI-5.0 6.9.2, 6.9.4).
 * Includes operations that libraries accept beyond the standard: integer operations on characters, and logical
 * operations on MPI_AINT and similar types. Each operation is also computed serially here. The serial computation uses
 * unsigned integers: the library's integers wrap around on overflow, which is undefined for signed integers in C.
 *
 *   for (int t = 0; t < types_count(); t++) {
 *       const struct type *type = types + t;
 *       type->set(p, random)              one element from a random number
 *       type->apply(op, inout, in)        inout = in op inout; op is OP_SUM, OP_PROD, ...
 *       type->equal(a, b)                 compares values; ignores padding
 *   }
 */
#ifndef TYPES_H
#define TYPES_H

#include "check.h"
#include <complex.h>
#include <wchar.h>

enum {
	OP_SUM,
	OP_PROD,
	OP_MIN,
	OP_MAX,
	OP_BAND,
	OP_BOR,
	OP_BXOR,
	OP_LAND,
	OP_LOR,
	OP_LXOR,
	OP_MINLOC,
	OP_MAXLOC,
	OP_REPLACE,
	OP_NO_OP,
	OPS
};

static const char *const op_name[OPS] = {"SUM",  "PROD", "MIN",  "MAX",    "BAND",   "BOR",     "BXOR",
					 "LAND", "LOR",  "LXOR", "MINLOC", "MAXLOC", "REPLACE", "NO_OP"};

static inline MPI_Op op_handle(int op) {
	MPI_Op handles[OPS] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
			       MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
	return handles[op];
}

/* The type classes of the standard. */
enum {
	CLASS_INTEGER = 1,
	CLASS_FORTRAN_INTEGER = 2,
	CLASS_FLOAT = 4,
	CLASS_LOGICAL = 8,
	CLASS_COMPLEX = 16,
	CLASS_BYTE = 32,
	CLASS_MULTI = 64,
	CLASS_PAIR = 128,
	CLASS_CHARACTER = 256 /* computed like signed char */,
	CLASS_OTHER = 512 /* allows only REPLACE and NO_OP */
};

static inline int op_allowed(int op, int class) {
	switch (op) {
	case OP_MIN:
	case OP_MAX:
		return class & (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_FLOAT | CLASS_MULTI | CLASS_CHARACTER);
	case OP_SUM:
	case OP_PROD:
		return class & (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_FLOAT | CLASS_COMPLEX | CLASS_MULTI |
				CLASS_CHARACTER);
	case OP_LAND:
	case OP_LOR:
	case OP_LXOR:
		return class & (CLASS_INTEGER | CLASS_LOGICAL | CLASS_MULTI | CLASS_CHARACTER);
	case OP_BAND:
	case OP_BOR:
	case OP_BXOR:
		return class & (CLASS_INTEGER | CLASS_FORTRAN_INTEGER | CLASS_BYTE | CLASS_MULTI | CLASS_CHARACTER);
	case OP_MINLOC:
	case OP_MAXLOC:
		return class & CLASS_PAIR;
	}
	return 1;
}

struct type {
	const char *name;
	MPI_Datatype handle;
	size_t size; /* extent: distance between two elements in an array, in bytes */
	int class;
	int is_unsigned;
	void (*set)(void *p, uint64_t random);
	void (*apply)(int op, void *inout, const void *in);
	int (*equal)(const void *a, const void *b);
};

#define EQUAL(id, T) \
	static int equal_##id(const void *a, const void *b) { return *(const T *)a == *(const T *)b; }

/* Defines set, apply and equal for an integer type T; U is the unsigned type of the same size. Odd random numbers give
 * small values, so that logical operations also get zeros. */
#define INTEGER(id, T, U)                                                    \
	EQUAL(id, T)                                                         \
	static void set_##id(void *p, uint64_t random) {                     \
		*(T *)p = (T)(random & 1 ? (random >> 8) % 3 : random >> 8); \
	}                                                                    \
	static void apply_##id(int op, void *inout, const void *in) {        \
		T a = *(T *)inout, b = *(const T *)in;                       \
		uint64_t x = (U)a, y = (U)b;                                 \
		switch (op) {                                                \
		case OP_SUM:                                                 \
			a = (T)(U)(x + y);                                   \
			break;                                               \
		case OP_PROD:                                                \
			a = (T)(U)(x * y);                                   \
			break;                                               \
		case OP_MIN:                                                 \
			a = b < a ? b : a;                                   \
			break;                                               \
		case OP_MAX:                                                 \
			a = b > a ? b : a;                                   \
			break;                                               \
		case OP_BAND:                                                \
			a = (T)(U)(x & y);                                   \
			break;                                               \
		case OP_BOR:                                                 \
			a = (T)(U)(x | y);                                   \
			break;                                               \
		case OP_BXOR:                                                \
			a = (T)(U)(x ^ y);                                   \
			break;                                               \
		case OP_LAND:                                                \
			a = (T)(x && y);                                     \
			break;                                               \
		case OP_LOR:                                                 \
			a = (T)(x || y);                                     \
			break;                                               \
		case OP_LXOR:                                                \
			a = (T)(!x != !y);                                   \
			break;                                               \
		case OP_REPLACE:                                             \
			a = b;                                               \
			break;                                               \
		}                                                            \
		*(T *)inout = a;                                             \
	}

/* Defines the functions of a floating-point type. Values are small multiples of 1/2, so that every order of evaluation
 * gives the same result. */
#define FLOATING(id, T)                                                                                    \
	EQUAL(id, T)                                                                                       \
	static void set_##id(void *p, uint64_t random) { *(T *)p = (T)((int)(random >> 8 & 15) - 8) / 2; } \
	static void apply_##id(int op, void *inout, const void *in) {                                      \
		T a = *(T *)inout, b = *(const T *)in;                                                     \
		switch (op) {                                                                              \
		case OP_SUM:                                                                               \
			a = a + b;                                                                         \
			break;                                                                             \
		case OP_PROD:                                                                              \
			a = a * b;                                                                         \
			break;                                                                             \
		case OP_MIN:                                                                               \
			a = b < a ? b : a;                                                                 \
			break;                                                                             \
		case OP_MAX:                                                                               \
			a = b > a ? b : a;                                                                 \
			break;                                                                             \
		case OP_REPLACE:                                                                           \
			a = b;                                                                             \
			break;                                                                             \
		}                                                                                          \
		*(T *)inout = a;                                                                           \
	}

#define COMPLEX(id, T)                                                                    \
	EQUAL(id, T)                                                                      \
	static void set_##id(void *p, uint64_t random) {                                  \
		*(T *)p = (int)(random >> 8 & 3) - 1 + ((int)(random >> 16 & 3) - 2) * I; \
	}                                                                                 \
	static void apply_##id(int op, void *inout, const void *in) {                     \
		T a = *(T *)inout, b = *(const T *)in;                                    \
		switch (op) {                                                             \
		case OP_SUM:                                                              \
			a = a + b;                                                        \
			break;                                                            \
		case OP_PROD:                                                             \
			a = a * b;                                                        \
			break;                                                            \
		case OP_REPLACE:                                                          \
			a = b;                                                            \
			break;                                                            \
		}                                                                         \
		*(T *)inout = a;                                                          \
	}

/* Defines the functions of a logical type. Its values are 0 and 1. */
#define LOGICAL(id, T)                                                                \
	EQUAL(id, T)                                                                  \
	static void set_##id(void *p, uint64_t random) { *(T *)p = random >> 8 & 1; } \
	static void apply_##id(int op, void *inout, const void *in) {                 \
		T a = *(T *)inout, b = *(const T *)in;                                \
		switch (op) {                                                         \
		case OP_LAND:                                                         \
			a = a && b;                                                   \
			break;                                                        \
		case OP_LOR:                                                          \
			a = a || b;                                                   \
			break;                                                        \
		case OP_LXOR:                                                         \
			a = !a != !b;                                                 \
			break;                                                        \
		case OP_REPLACE:                                                      \
			a = b;                                                        \
			break;                                                        \
		}                                                                     \
		*(T *)inout = a;                                                      \
	}

/* Defines the functions of a pair: a value of type T and an index of type J. Few different values occur, so that MINLOC
 * and MAXLOC also compare equal values with different indices. */
#define PAIR(id, T, J)                                                                      \
	struct pair_##id {                                                                  \
		T value;                                                                    \
		J index;                                                                    \
	};                                                                                  \
	static int equal_##id(const void *a, const void *b) {                               \
		const struct pair_##id *x = a, *y = b;                                      \
		return x->value == y->value && x->index == y->index;                        \
	}                                                                                   \
	static void set_##id(void *p, uint64_t random) {                                    \
		struct pair_##id *x = p;                                                    \
		x->value = (int)(random >> 8 & 3) - 2;                                      \
		x->index = (int)(random >> 16 & 15);                                        \
	}                                                                                   \
	static void apply_##id(int op, void *inout, const void *in) {                       \
		struct pair_##id *a = inout;                                                \
		const struct pair_##id *b = in;                                             \
		if (op == OP_REPLACE || (op == OP_MINLOC && b->value < a->value) ||         \
		    (op == OP_MAXLOC && b->value > a->value)) {                             \
			a->value = b->value;                                                \
			a->index = b->index;                                                \
		} else if (op != OP_NO_OP && b->value == a->value && b->index < a->index) { \
			a->index = b->index;                                                \
		}                                                                           \
	}

INTEGER(schar, signed char, unsigned char)
INTEGER(uchar, unsigned char, unsigned char)
INTEGER(short, short, unsigned short)
INTEGER(ushort, unsigned short, unsigned short)
INTEGER(int, int, unsigned)
INTEGER(uint, unsigned, unsigned)
INTEGER(long, long, unsigned long)
INTEGER(ulong, unsigned long, unsigned long)
INTEGER(llong, long long, unsigned long long)
INTEGER(ullong, unsigned long long, unsigned long long)
INTEGER(int8, int8_t, uint8_t)
INTEGER(int16, int16_t, uint16_t)
INTEGER(int32, int32_t, uint32_t)
INTEGER(int64, int64_t, uint64_t)
INTEGER(uint8, uint8_t, uint8_t)
INTEGER(uint16, uint16_t, uint16_t)
INTEGER(uint32, uint32_t, uint32_t)
INTEGER(uint64, uint64_t, uint64_t)
INTEGER(aint, MPI_Aint, uint64_t)
INTEGER(count, MPI_Count, uint64_t)
INTEGER(offset, MPI_Offset, uint64_t)
INTEGER(wchar, wchar_t, uint32_t)
FLOATING(float, float)
FLOATING(double, double)
FLOATING(ldouble, long double)
COMPLEX(cfloat, float complex)
COMPLEX(cdouble, double complex)
COMPLEX(cldouble, long double complex)
LOGICAL(cbool, _Bool)
LOGICAL(logical, int)
PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(int_int, int, int)
PAIR(short_int, short, int)
PAIR(ldouble_int, long double, int)
PAIR(float_float, float, float)
PAIR(double_double, double, double)

enum { TYPES_MAX = 64 };
static struct type types[TYPES_MAX];
static int types_number;

#define ADD(mpi, id, T, cls, uns)                                                        \
	if ((mpi) != MPI_DATATYPE_NULL)                                                  \
		types[types_number++] = (struct type) {                                  \
#mpi, mpi, sizeof(T), cls, uns, set_##id, apply_##id, equal_##id \
		}

/* Returns the number of types in types[]. The first call must follow MPI_Init and fills types[]. Fortran types that the
 * library under test does not have (MPI_DATATYPE_NULL) are left out. */
static inline int types_count(void) {
	if (types_number > 0)
		return types_number;
	ADD(MPI_SIGNED_CHAR, schar, signed char, CLASS_INTEGER, 0);
	ADD(MPI_UNSIGNED_CHAR, uchar, unsigned char, CLASS_INTEGER, 1);
	ADD(MPI_SHORT, short, short, CLASS_INTEGER, 0);
	ADD(MPI_UNSIGNED_SHORT, ushort, unsigned short, CLASS_INTEGER, 1);
	ADD(MPI_INT, int, int, CLASS_INTEGER, 0);
	ADD(MPI_UNSIGNED, uint, unsigned, CLASS_INTEGER, 1);
	ADD(MPI_LONG, long, long, CLASS_INTEGER, 0);
	ADD(MPI_UNSIGNED_LONG, ulong, unsigned long, CLASS_INTEGER, 1);
	ADD(MPI_LONG_LONG, llong, long long, CLASS_INTEGER, 0);
	ADD(MPI_UNSIGNED_LONG_LONG, ullong, unsigned long long, CLASS_INTEGER, 1);
	ADD(MPI_INT8_T, int8, int8_t, CLASS_INTEGER, 0);
	ADD(MPI_INT16_T, int16, int16_t, CLASS_INTEGER, 0);
	ADD(MPI_INT32_T, int32, int32_t, CLASS_INTEGER, 0);
	ADD(MPI_INT64_T, int64, int64_t, CLASS_INTEGER, 0);
	ADD(MPI_UINT8_T, uint8, uint8_t, CLASS_INTEGER, 1);
	ADD(MPI_UINT16_T, uint16, uint16_t, CLASS_INTEGER, 1);
	ADD(MPI_UINT32_T, uint32, uint32_t, CLASS_INTEGER, 1);
	ADD(MPI_UINT64_T, uint64, uint64_t, CLASS_INTEGER, 1);
	ADD(MPI_INTEGER, int, int, CLASS_FORTRAN_INTEGER, 0);
	ADD(MPI_INTEGER1, int8, int8_t, CLASS_FORTRAN_INTEGER, 0);
	ADD(MPI_INTEGER2, int16, int16_t, CLASS_FORTRAN_INTEGER, 0);
	ADD(MPI_INTEGER4, int32, int32_t, CLASS_FORTRAN_INTEGER, 0);
	ADD(MPI_INTEGER8, int64, int64_t, CLASS_FORTRAN_INTEGER, 0);
	ADD(MPI_AINT, aint, MPI_Aint, CLASS_MULTI, 0);
	ADD(MPI_COUNT, count, MPI_Count, CLASS_MULTI, 0);
	ADD(MPI_OFFSET, offset, MPI_Offset, CLASS_MULTI, 0);
	ADD(MPI_FLOAT, float, float, CLASS_FLOAT, 0);
	ADD(MPI_DOUBLE, double, double, CLASS_FLOAT, 0);
	ADD(MPI_LONG_DOUBLE, ldouble, long double, CLASS_FLOAT, 0);
	ADD(MPI_REAL, float, float, CLASS_FLOAT, 0);
	ADD(MPI_DOUBLE_PRECISION, double, double, CLASS_FLOAT, 0);
	ADD(MPI_REAL4, float, float, CLASS_FLOAT, 0);
	ADD(MPI_REAL8, double, double, CLASS_FLOAT, 0);
	ADD(MPI_C_FLOAT_COMPLEX, cfloat, float complex, CLASS_COMPLEX, 0);
	ADD(MPI_C_DOUBLE_COMPLEX, cdouble, double complex, CLASS_COMPLEX, 0);
	ADD(MPI_C_LONG_DOUBLE_COMPLEX, cldouble, long double complex, CLASS_COMPLEX, 0);
	ADD(MPI_COMPLEX, cfloat, float complex, CLASS_COMPLEX, 0);
	ADD(MPI_DOUBLE_COMPLEX, cdouble, double complex, CLASS_COMPLEX, 0);
	ADD(MPI_COMPLEX8, cfloat, float complex, CLASS_COMPLEX, 0);
	ADD(MPI_COMPLEX16, cdouble, double complex, CLASS_COMPLEX, 0);
	ADD(MPI_C_BOOL, cbool, _Bool, CLASS_LOGICAL, 0);
	ADD(MPI_LOGICAL, logical, int, CLASS_LOGICAL, 0);
	ADD(MPI_BYTE, uchar, unsigned char, CLASS_BYTE, 1);
	ADD(MPI_FLOAT_INT, float_int, struct pair_float_int, CLASS_PAIR, 0);
	ADD(MPI_DOUBLE_INT, double_int, struct pair_double_int, CLASS_PAIR, 0);
	ADD(MPI_LONG_INT, long_int, struct pair_long_int, CLASS_PAIR, 0);
	ADD(MPI_2INT, int_int, struct pair_int_int, CLASS_PAIR, 0);
	ADD(MPI_SHORT_INT, short_int, struct pair_short_int, CLASS_PAIR, 0);
	ADD(MPI_LONG_DOUBLE_INT, ldouble_int, struct pair_ldouble_int, CLASS_PAIR, 0);
	ADD(MPI_2REAL, float_float, struct pair_float_float, CLASS_PAIR, 0);
	ADD(MPI_2DOUBLE_PRECISION, double_double, struct pair_double_double, CLASS_PAIR, 0);
	ADD(MPI_2INTEGER, int_int, struct pair_int_int, CLASS_PAIR, 0);
	ADD(MPI_CHAR, schar, signed char, CLASS_CHARACTER, 0);
	ADD(MPI_WCHAR, wchar, wchar_t, CLASS_OTHER, 0);
	ADD(MPI_CHARACTER, schar, signed char, CLASS_CHARACTER, 0);
	return types_number;
}

/* Returns an element's bytes in hexadecimal, the last byte first. The text stays valid until the fourth later call. */
static inline const char *types_show(const struct type *type, const void *element) {
	static char texts[4][80];
	static int next;
	char *text = texts[next++ % 4], *end = text;
	const unsigned char *byte = element;
	for (size_t i = type->size; i > 0; i--)
		end += snprintf(end, 3, "%02x", byte[i - 1]);
	return text;
}

/* Returns the type classes (bits CLASS_...) that the variant `name` selects. Reports an error and returns 0 for an
 * unknown name. */
static inline int types_class_named(const char *name) {
	static const struct {
		const char *name;
		int classes;
	} names[] = {{"integer", CLASS_INTEGER}, {"fortran_integer", CLASS_FORTRAN_INTEGER},
		     {"floating", CLASS_FLOAT},  {"complex", CLASS_COMPLEX},
		     {"logical", CLASS_LOGICAL}, {"pair", CLASS_PAIR},
		     {"multi", CLASS_MULTI},     {"other", CLASS_BYTE | CLASS_CHARACTER | CLASS_OTHER}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].classes;
	CHECK(0, "no class of types is called '%s'", name);
	return 0;
}

#endif
