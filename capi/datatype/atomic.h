// Updates elements with atomic instructions. Contains the kernels by operation and element type, the alignment that the
// kernels need, and the maximum number of elements.
#ifndef GOMPI_ATOMIC_H
#define GOMPI_ATOMIC_H

#include "base/atomics.h"
#include "datatype/op.h"

// GOMPI_ATOMIC_MAX_COUNT: an operation on more elements acquires the lock (update/mode.h) even if several threads
// update the same memory, because a vectorized loop under the lock is then faster than atomic instructions (measured,
// docs/RATIONALE.md). GOMPI_ATOMIC_ALWAYS_COUNT: an operation on at most this number of elements always uses atomic
// instructions, unless it updates several one-byte elements (gompi_atomic_is_allowed).
enum { GOMPI_ATOMIC_MAX_COUNT = 64, GOMPI_ATOMIC_ALWAYS_COUNT = 2 };

// Returns true if count elements of size bytes may be updated one by one: a single element, or at most
// GOMPI_ATOMIC_MAX_COUNT elements of more than one byte. Several one-byte elements may not: programs transfer
// structures as MPI_BYTE, for example a rank with a displacement. They expect the update of the whole structure to be
// atomic (docs/RATIONALE.md).
static inline bool gompi_atomic_is_allowed(MPI_Count count, int64_t size) {
	return __builtin_expect(count == 1, 1) || (size > 1 && (uint64_t)count <= GOMPI_ATOMIC_MAX_COUNT);
}

// Returns true if atomic instructions are always the fastest way to update count elements of size bytes.
static inline bool gompi_atomic_is_fastest(MPI_Count count, int64_t size) {
	return __builtin_expect(count == 1, 1) || (size > 1 && count == GOMPI_ATOMIC_ALWAYS_COUNT);
}

// Returns true if the address `to` is aligned for atomic instructions on an element of size bytes (a power of two).
static inline bool gompi_is_aligned(const void *to, int64_t size) {
	return ((uintptr_t)to & ((uintptr_t)size - 1)) == 0;
}

// Updates n elements at `target` with the operation, each element atomically. Stores the previous values in `result`
// unless `result` is NULL. Preconditions: the caller is between gompi_atomic_update_begin or
// gompi_unlocked_update_begin and gompi_unlocked_update_end; `target` is aligned to the element size.
typedef void (*gompi_atomic_kernel)(const void *origin, void *target, void *result, size_t n);

// Element classes. The predefined types of one class have the same size and arithmetic: signed (I), unsigned (U),
// floating-point (F) or logical (L) elements of 8 to 64 bits, or MPI_BYTE. GOMPI_NO_CLASS: no atomic instruction exists
// for the type.
enum gompi_element_class {
	GOMPI_NO_CLASS,
	GOMPI_I8,
	GOMPI_U8,
	GOMPI_I16,
	GOMPI_U16,
	GOMPI_I32,
	GOMPI_U32,
	GOMPI_I64,
	GOMPI_U64,
	GOMPI_F32,
	GOMPI_F64,
	GOMPI_L8,
	GOMPI_L16,
	GOMPI_L32,
	GOMPI_L64,
	GOMPI_BYTE,
	GOMPI_CLASSES
};

extern const gompi_atomic_kernel gompi_atomic_kernels[GOMPI_OP_HANDLES][GOMPI_CLASSES];
// The kernels by row (operation) and column (type) as in op.h; NULL where the standard does not allow the operation on
// the type. Filled by gompi_type_fill_tables.
extern gompi_atomic_kernel gompi_atomic_table[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS];

// Returns the kernel for the operation `op` on elements of a predefined type. Returns NULL if the operation is not
// defined for the type, or if no atomic instruction exists for the type.
static inline gompi_atomic_kernel gompi_atomic_kernel_for(MPI_Op op, MPI_Datatype type) {
	uintptr_t o = (uintptr_t)op - GOMPI_OP_FIRST, t = (uintptr_t)type - GOMPI_OP_TYPE_FIRST;
	return o < GOMPI_OP_HANDLES && t < GOMPI_OP_TYPE_HANDLES
		       ? gompi_atomic_table[gompi_op_row[o]][gompi_op_column[t]]
		       : NULL;
}

// Returns the kernel like gompi_atomic_kernel_for. Precondition: gompi_simple_bytes(type) is not 0, so that the handle
// `type` needs no range check.
static inline gompi_atomic_kernel gompi_atomic_kernel_simple(MPI_Op op, MPI_Datatype type) {
	uintptr_t o = (uintptr_t)op - GOMPI_OP_FIRST;
	return __builtin_expect(o < GOMPI_OP_HANDLES, 1)
		       ? gompi_atomic_table[gompi_op_row[o]][gompi_op_column[(uintptr_t)type - GOMPI_OP_TYPE_FIRST]]
		       : NULL;
}

// Compares and swaps one element of 1, 2, 4 or 8 bytes. The address `target` is aligned to the element size. Stores the
// previous value in `result`. Returns true if the target's element was equal to the element at `compare`, and so has
// been replaced by the element at `origin`.
static inline bool gompi_compare_and_swap_element(void *target, const void *origin, const void *compare, void *result,
						  uint64_t size) {
#define CASE(U)                                                                 \
	case sizeof(U): {                                                       \
		U want, new;                                                    \
		__builtin_memcpy(&want, compare, sizeof want);                  \
		__builtin_memcpy(&new, origin, sizeof new);                     \
		bool equal = gompi_element_cas_strong((U *)target, &want, new); \
		__builtin_memcpy(result, &want, sizeof want);                   \
		return equal;                                                   \
	}
	switch (size) {
		CASE(uint64_t)
		CASE(uint32_t)
		CASE(uint16_t)
		CASE(uint8_t)
	}
#undef CASE
	return false;
}

#endif
